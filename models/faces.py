"""Two of the three stages of the face detector MTCNN, with published weights, on scikit-image's astronaut."""

from __future__ import annotations

import numpy as np
import skimage.data
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from models.recipe import Recipe, program, single
from models.weights import weights_of

# P-Net finds faces of 12 pixels: the astronaut's, 100 pixels wide, is that at one eighth of the size.
PNET_SIZE = 64
# Where the face is in the 512 x 512 image: left, top, right, bottom; a square, as O-Net expects.
FACE = (165, 60, 285, 180)
NO_FACE = (10, 330, 130, 450)


class PNet(nn.Module):
    """RGB in -1..1 (1, 3, H, W) -> box corrections (1, 4, h, w) and face probability (1, 2, h, w), a cell per 2 pixels."""

    def __init__(self):
        super().__init__()
        self.conv1, self.prelu1 = nn.Conv2d(3, 10, 3), nn.PReLU(10)
        self.pool1 = nn.MaxPool2d(2, 2, ceil_mode=True)
        self.conv2, self.prelu2 = nn.Conv2d(10, 16, 3), nn.PReLU(16)
        self.conv3, self.prelu3 = nn.Conv2d(16, 32, 3), nn.PReLU(32)
        self.conv4_1, self.conv4_2 = nn.Conv2d(32, 2, 1), nn.Conv2d(32, 4, 1)

    def forward(self, image: Tensor) -> tuple[Tensor, Tensor]:
        x = self.pool1(self.prelu1(self.conv1(image)))
        x = self.prelu3(self.conv3(self.prelu2(self.conv2(x))))
        return self.conv4_2(x), torch.softmax(self.conv4_1(x), dim=1)


class ONet(nn.Module):
    """RGB in -1..1 (N, 3, 48, 48) -> box (N, 4), five landmarks (N, 10: x of all, then y) and face probability (N, 2)."""

    def __init__(self):
        super().__init__()
        self.conv1, self.prelu1 = nn.Conv2d(3, 32, 3), nn.PReLU(32)
        self.pool1 = nn.MaxPool2d(3, 2, ceil_mode=True)
        self.conv2, self.prelu2 = nn.Conv2d(32, 64, 3), nn.PReLU(64)
        self.pool2 = nn.MaxPool2d(3, 2, ceil_mode=True)
        self.conv3, self.prelu3 = nn.Conv2d(64, 64, 3), nn.PReLU(64)
        self.pool3 = nn.MaxPool2d(2, 2, ceil_mode=True)
        self.conv4, self.prelu4 = nn.Conv2d(64, 128, 2), nn.PReLU(128)
        self.dense5, self.prelu5 = nn.Linear(1152, 256), nn.PReLU(256)
        self.dense6_1 = nn.Linear(256, 2)
        self.dense6_2 = nn.Linear(256, 4)
        self.dense6_3 = nn.Linear(256, 10)

    def forward(self, image: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        x = self.pool1(self.prelu1(self.conv1(image)))
        x = self.pool2(self.prelu2(self.conv2(x)))
        x = self.pool3(self.prelu3(self.conv3(x)))
        x = self.prelu4(self.conv4(x))
        x = self.prelu5(self.dense5(x.permute(0, 3, 2, 1).flatten(1)))
        return self.dense6_2(x), self.dense6_3(x), torch.softmax(self.dense6_1(x), dim=1)


def astronaut(box: tuple[int, int, int, int] | None, size: int) -> Tensor:
    """The box of the picture (all of it without one), averaged down to size x size, as the networks want it."""
    picture = skimage.data.astronaut()
    if box is not None:
        left, top, right, bottom = box
        picture = picture[top:bottom, left:right]
    pixels = torch.from_numpy(np.ascontiguousarray(picture)).permute(2, 0, 1)[None].float()
    return (F.interpolate(pixels, (size, size), mode="area") - 127.5) / 128


@program
def pnet() -> Recipe:
    """MTCNN's P-Net on the astronaut at one eighth of its size; published weights."""
    model = PNet()
    model.load_state_dict(weights_of("facenet-pytorch", "facenet_pytorch/data/pnet.pt"))
    return single(model, (astronaut(None, PNET_SIZE),))


@program
def onet() -> Recipe:
    """MTCNN's O-Net on the astronaut's face and on a piece without one; published weights."""
    model = ONet()
    model.load_state_dict(weights_of("facenet-pytorch", "facenet_pytorch/data/onet.pt"))
    return single(model, (torch.cat([astronaut(FACE, 48), astronaut(NO_FACE, 48)]),))
