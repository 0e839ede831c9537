"""How far two samples are apart, by several statistics, and how far chance would set them."""
