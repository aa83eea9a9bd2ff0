"""Programs for tests and demonstrations, written by the official exporter.

Needs the exporter's own environment (`models/make_environment`); nothing a user of Pteron ever needs.
"""
