"""The games for other people's tools: PettingZoo and OpenSpiel. Each needs an extra of its name."""
