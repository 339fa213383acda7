"""The games for PettingZoo and OpenSpiel. Each needs the extra of its name."""
