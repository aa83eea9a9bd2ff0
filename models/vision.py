"""torchvision's image classifiers with random weights."""

from __future__ import annotations

from collections.abc import Callable

import torch
import torchvision
from torch import nn

from models.recipe import Recipe, program, single


def set_batch_statistics(model: nn.Module) -> None:
    """Gives every batch norm the statistics of one random batch, so that activations keep their size."""
    norms = [module for module in model.modules() if isinstance(module, nn.BatchNorm2d)]
    for norm in norms:
        norm.momentum = None
        norm.reset_running_stats()
    if norms:
        model.train()
        with torch.no_grad():
            model(torch.randn(4, 3, 224, 224))


def _classifier(make: Callable[[], nn.Module]) -> Recipe:
    model = make()
    set_batch_statistics(model)
    return single(model, (torch.randn(1, 3, 224, 224),))


@program
def mobilenet_v2() -> Recipe:
    """torchvision's mobilenet_v2; random weights, batch-norm statistics of a batch."""
    return _classifier(torchvision.models.mobilenet_v2)


@program
def mobilenet_v3_small() -> Recipe:
    """torchvision's mobilenet_v3_small; random weights, batch-norm statistics of a batch."""
    return _classifier(torchvision.models.mobilenet_v3_small)


@program
def resnet18() -> Recipe:
    """torchvision's resnet18; random weights, batch-norm statistics of a batch."""
    return _classifier(torchvision.models.resnet18)


@program
def efficientnet_b0() -> Recipe:
    """torchvision's efficientnet_b0; random weights, batch-norm statistics of a batch."""
    return _classifier(torchvision.models.efficientnet_b0)


@program
def vit_b_16() -> Recipe:
    """torchvision's vit_b_16; random weights with a head that is not zero."""

    def make() -> nn.Module:
        model = torchvision.models.vit_b_16()
        nn.init.normal_(model.heads.head.weight, std=0.02)
        return model

    return _classifier(make)
