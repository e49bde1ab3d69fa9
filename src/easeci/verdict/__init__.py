"""Plan + what the testset says → Verdict, or which labels are needed first."""
