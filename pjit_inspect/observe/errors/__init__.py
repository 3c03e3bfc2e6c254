"""An error of JAX's, the frames it went through, and the arrays they hold."""
