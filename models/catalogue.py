"""Importing this module makes every recipe known."""

from models import control_flow, delegated, programs

__all__ = ["control_flow", "delegated", "programs"]
