"""What a testset shows: cells of its examples, evidence along its order, and levels of steps."""
