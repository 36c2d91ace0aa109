"""Checks of everything that comes in; users meet it as `dmfroc.inputs.predictions.Predictions`.

Each module imports only those below it::

    rows        classifiers whose rows are matched by their ids
    arguments   what a function was given, as predictions that have what it needs
    predictions `Predictions`
    files       readers of tables as text, Parquet, JSON lines and NumPy files
    tables      which columns of a table are what, and the labels that its text spells
    delimited   tables as text; encodings: how their letters are stored
    checks      the whole check, from what was given or read to the fields of `Predictions`
    weights     observation weights
    scores      score columns: real, finite, in the order of the classes
    score_doubts  warnings that scores may be something else
    columns     which score column belongs to which class
    labels      labels and their encoding
    arrays      columns and tables of any library as NumPy arrays, rows matched by their index
    messages    where an input is, and lists that stay short
"""
