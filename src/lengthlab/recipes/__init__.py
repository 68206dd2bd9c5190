"""Recipes: YAML presets, `key=value` overrides, and how both become a config."""
