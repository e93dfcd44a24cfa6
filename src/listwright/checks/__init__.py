"""Laws that rewards keep, shipped so that one's own can be checked too."""

from listwright.checks.base import LawBroken
from listwright.checks.reward import check_reward

__all__ = ["LawBroken", "check_reward"]
