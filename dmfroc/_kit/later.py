"""Types for annotations that can be resolved, though their libraries take long to import."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import Never
    from typing import Self as Self

    import matplotlib.artist
    import matplotlib.axes
    import matplotlib.collections
    import matplotlib.container
    import matplotlib.figure
    import matplotlib.image
    import matplotlib.lines
    import matplotlib.text
    import pandas
    import xarray

    Nothing = Never
else:
    # Run-time checks know no argument that is never given, and no class around a function
    Nothing = Self = Any

type Artist = "matplotlib.artist.Artist"
type Axes = "matplotlib.axes.Axes"
type AxesImage = "matplotlib.image.AxesImage"
type BarContainer = "matplotlib.container.BarContainer"
type DataFrame = "pandas.DataFrame"
type DataTree = "xarray.DataTree"
type Figure = "matplotlib.figure.Figure"
type Line2D = "matplotlib.lines.Line2D"
type LineCollection = "matplotlib.collections.LineCollection"
type PathCollection = "matplotlib.collections.PathCollection"
type PolyCollection = "matplotlib.collections.PolyCollection"
type Text = "matplotlib.text.Text"
