"""What several rules ask of the model, and what their fixes write: no rule stands here."""
