"""How the slots of a list are drawn: one file a way."""

from listwright.feedback.explore.base import Exploration
from listwright.feedback.explore.epsilon import Epsilon
from listwright.feedback.explore.inverse_gap import InverseGap
from listwright.feedback.explore.own import Own, own_chances

__all__ = ["Epsilon", "Exploration", "InverseGap", "Own", "own_chances"]
