from __future__ import annotations

from pathlib import Path

import pytest

from tests.editors.support import Project, project_in


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A copy of the example project for one test."""
    return project_in(tmp_path)
