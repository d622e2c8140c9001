"""What the owner looks at: lights, figures in one place, and pages."""
