"""Reports: a study as one HTML file that needs nothing else.

`page` puts the file together, `figures` and `belief_figures` make what Plotly draws, and
`trial_rows` the table of trials. Plotly is needed (`pip install 'outcrop[report]'`).
"""

from __future__ import annotations

__all__ = ["Report", "report"]

from outcrop.reports.page import Report, report
