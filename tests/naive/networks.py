"""Slow, obvious references for `_kernels/networks.py`, scratch included in their arguments."""

import numpy as np


def adagrad_network(columns, targets, rate, epochs, hidden, output, workspace):
    """A step of Adagrad for each output in turn, on the mean squared error of that output; until the sum of
    the errors, to three decimals, is what it was a hundred epochs ago."""
    n, n_units = len(targets), len(hidden)
    X, onehot, output = columns[:, :n], np.eye(len(output))[:, targets], output[:, :n_units]
    hidden_squares, output_squares = np.zeros_like(hidden), np.zeros_like(output)
    last_loss = 0.0
    for epoch in range(epochs):
        loss = 0.0
        for r in range(len(output)):
            units = 1 / (1 + np.exp(-hidden @ X))
            errors = output[r] @ units - onehot[r]
            loss += np.mean(errors**2)
            hidden_slope = (np.outer(output[r], 2 * errors / n) * units * (1 - units)) @ X.T
            output_slope = units @ (2 * errors / n)
            hidden_squares += hidden_slope**2
            output_squares[r] += output_slope**2
            hidden -= rate * hidden_slope / (np.sqrt(hidden_squares) + 1e-10)
            output[r] -= rate * output_slope / (np.sqrt(output_squares[r]) + 1e-10)
        if epoch % 100 == 0:
            if round(loss, 3) == round(last_loss, 3):
                return epoch + 1
            last_loss = loss
    return epochs


def adam_network(rows, columns, targets, rate, iterations, hidden, output, workspace):
    """Adam with its usual constants on the mean of half the squared error, all samples at once."""
    onehot = np.eye(output.shape[1])[targets]
    moments = [[np.zeros_like(weights), np.zeros_like(weights)] for weights in (hidden, output)]
    for t in range(1, iterations + 1):
        units = 1 / (1 + np.exp(-rows @ hidden.T))
        layer = np.column_stack([units, np.ones(len(rows))])
        errors = (layer @ output - onehot) / len(rows)
        slopes = (errors @ output[:-1].T * units * (1 - units)).T @ rows, layer.T @ errors
        for weights, slope, moment in zip((hidden, output), slopes, moments, strict=True):
            moment[0] = 0.9 * moment[0] + 0.1 * slope
            moment[1] = 0.999 * moment[1] + 0.001 * slope**2
            weights -= rate * (moment[0] / (1 - 0.9**t)) / (np.sqrt(moment[1] / (1 - 0.999**t)) + 1e-8)
