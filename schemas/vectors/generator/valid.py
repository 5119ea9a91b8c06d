"""The legal batches, each for one reason: importing the files lists them."""

from . import hostile, valid_clock, valid_header, valid_storage, valid_values  # noqa: F401
from .batches import VECTORS  # noqa: F401
