"""The verdict on candidates, what rules ask of the model, and what their fixes write: no rule stands here."""
