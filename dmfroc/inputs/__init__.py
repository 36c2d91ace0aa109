"""Checks of everything that comes in; users meet it as `dmfroc.inputs.predictions.Predictions`.

Data go through these modules from the last to the first. Each imports only those below it::

    horizon, judge, class_shares  outcomes that take time, few labels, another population
    rows        classifiers whose rows are matched by their ids
    arguments   what a function was given, as predictions that have what it needs
    predictions `Predictions`
    files       readers of tables as text, Parquet, JSON lines and NumPy files
    tables      which columns of a table are what, and the labels that its text spells
    delimited   tables as text, with their encodings
    checks      the whole check: columns, labels, scores, the fields of `Predictions`, then all
                doubts over what is finished; `Predictions` warns of them
    scores      score columns: real, finite, in the order of the classes
    score_doubts, row_doubts  warnings that finished scores, or rows, may be something else
    columns     which score column belongs to which class
    labels      labels and their encoding
    arrays      columns and tables of any library as NumPy arrays, rows matched by their index
    messages    where an input is, and lists that stay short
"""
