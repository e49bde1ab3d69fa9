"""What a testset says: cells of its examples, and the level at which each step is tested."""
