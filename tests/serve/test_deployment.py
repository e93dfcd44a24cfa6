"""The files in deploy/: what they name exists, the tools that are installed accept them, and the service starts so."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tomllib
import zipfile
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
import yaml

from listwright.serve import Limits, Settings, new_key
from listwright.serve.metrics import Metrics

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
OPTIONS = {one.name.upper() for one in fields(Settings)} | {f"LIMIT_{one.name.upper()}" for one in fields(Limits)}
OTHERS = {"CONFIG", "STORE_PASSWORD"}
MEBIBYTE = 1 << 20
pytestmark = pytest.mark.skipif(not DEPLOY.is_dir(), reason="needs the folder deploy")


def text_of(name):
    return (DEPLOY / name).read_text()


def unit_lines(key):
    return [line.partition("=")[2] for line in text_of("listwright.service").splitlines() if line.startswith(f"{key}=")]


def tool(name):
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"needs {name}, which is not installed")
    return found


@pytest.mark.parametrize("name", ["Dockerfile", "compose.yaml", "listwright.service"])
def test_variables_of_the_environment_are_options(name):
    named = set(re.findall(r"LISTWRIGHT_([A-Z_]+)", text_of(name)))
    assert named
    assert named <= OPTIONS | OTHERS


def test_the_configuration_has_options_only():
    found = tomllib.loads(text_of("listwright.toml"))
    limits = found.pop("limits")
    assert {name.replace("-", "_") for name in found} <= {one.name for one in fields(Settings)}
    assert {name.replace("-", "_") for name in limits} <= {one.name for one in fields(Limits)}


def known_series():
    """Names of all series, with their labels."""
    found = {}
    for metric in Metrics().__dict__.values():
        if hasattr(metric, "_labelnames"):
            kind, labels = type(metric).__name__, set(metric._labelnames)
            ends = {"Counter": ["_total"], "Gauge": [""], "Histogram": ["_bucket", "_sum", "_count"]}[kind]
            found |= {metric._name + end: labels | ({"le"} if end == "_bucket" else set()) for end in ends}
    return found


def expressions():
    rules = yaml.safe_load(text_of("alerts.yml"))["groups"][0]["rules"]
    panels = json.loads(text_of("grafana/listwright.json"))["panels"]
    return [rule["expr"] for rule in rules] + [one["expr"] for panel in panels for one in panel["targets"]]


@pytest.mark.parametrize("expression", expressions() if DEPLOY.is_dir() else [])
def test_alerts_and_panels_ask_for_series_that_exist(expression):
    known = known_series()
    for name, selector in re.findall(r"(listwright_\w+)(?:\{([^}]*)\})?", expression):
        assert name in known
        assert set(re.findall(r"(\w+)\s*[!=]~?", selector)) <= known[name] | {"job", "instance"}
    assert expression.count("(") == expression.count(")")


def test_alerts_tell_how_urgent_they_are_and_what_is_wrong():
    rules = yaml.safe_load(text_of("alerts.yml"))["groups"][0]["rules"]
    assert {rule["labels"]["severity"] for rule in rules} == {"page", "ticket"}
    assert all(rule["annotations"]["summary"] for rule in rules)
    assert len({rule["alert"] for rule in rules}) == len(rules)


@pytest.mark.system
def test_prometheus_accepts_its_files():
    subprocess.run([tool("promtool"), "check", "rules", DEPLOY / "alerts.yml"], check=True)


def image_lines():
    return text_of("Dockerfile").replace("\\\n", " ").splitlines()


def copied_into_the_image():
    """(names in the repository, folder in the image) of each COPY that takes from the repository."""
    lines = [line.split()[1:] for line in image_lines() if line.startswith("COPY ") and "--from" not in line]
    assert lines
    return [(words[:-1], words[-1]) for words in lines]


def test_the_image_is_built_from_what_is_there():
    lines, ignored = image_lines(), (ROOT / ".dockerignore").read_text().splitlines()
    copied = [name for names, _ in copied_into_the_image() for name in names]
    assert all((ROOT / name).exists() for name in copied)
    assert not {name.partition("/")[0] for name in copied} & set(ignored)
    assert "USER listwright" in lines
    start = json.loads(next(line for line in lines if line.startswith("ENTRYPOINT")).partition(" ")[2])
    assert start[:2] == ["sh", "-c"]
    assert start[2].endswith('; exec listwright serve "$@"')


def test_kernels_are_compiled_while_the_image_is_built():
    lines = image_lines()
    (compiled,) = [line for line in lines if line.endswith("listwright warmup")]
    kernels = re.search(r"NUMBA_CACHE_DIR=(\S+)", compiled)[1]
    later = lines[lines.index(compiled) :]
    assert kernels.startswith("/opt/listwright/")
    assert "COPY --from=build /opt/listwright /opt/listwright" in later
    assert any(line.startswith("ENTRYPOINT") and f'cp -R {kernels}/. \\"$NUMBA_CACHE_DIR\\"' in line for line in later)


def test_sources_in_the_image_have_whole_seconds_when_kernels_are_compiled(tmp_path):
    (compiled,) = [line for line in image_lines() if line.endswith("listwright warmup")]
    program = re.match(r'RUN python -c "([^"]+)"\s+&& NUMBA_CACHE_DIR=', compiled)[1]
    source = tmp_path / "package" / "kernel.py"
    source.parent.mkdir()
    source.touch()
    os.utime(source, ns=(1_700_000_000_123_456_789,) * 2)
    subprocess.run([sys.executable, "-c", program.replace("/opt/listwright", str(tmp_path))], check=True)
    assert source.stat().st_mtime_ns == 1_700_000_000_000_000_000


@pytest.mark.system
def test_a_wheel_is_built_from_what_the_image_copies(tmp_path):
    for tool_name in ("build", "hatchling"):
        pytest.importorskip(tool_name)
    for names, folder in copied_into_the_image():
        target = tmp_path / folder.lstrip("/")
        for source in [ROOT / name for name in names if folder.startswith("/source")]:
            if source.is_dir():
                shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                target.mkdir(exist_ok=True)
                shutil.copy(source, target)
    build = [sys.executable, "-m", "build", "--quiet", "--wheel", "--no-isolation", "--outdir", tmp_path / "dist"]
    subprocess.run([*build, tmp_path / "source"], check=True)
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    inside = set(zipfile.ZipFile(wheel).namelist())
    wanted = {path.relative_to(ROOT / "src").as_posix() for path in (ROOT / "src").rglob("*.py")}
    assert wanted <= inside


def test_the_compose_file_fits_the_files_beside_it():
    found = yaml.safe_load(text_of("compose.yaml"))
    services = found["services"]
    own = {"model.listwright", "tls"}  # the user's
    mounted = {one.split(":")[0] for service in services.values() for one in service.get("volumes", [])}
    assert {name for name in mounted if name.startswith("./") and not (DEPLOY / name).exists()} == {
        f"./{name}" for name in own
    }
    secrets = {one for service in services.values() for one in service.get("secrets", [])}
    assert secrets == found["secrets"].keys()
    assert services["nginx"]["image"].startswith("nginx:")
    assert services["listwright"]["depends_on"]["postgres"]["condition"] == "service_healthy"
    grace = int(services["listwright"]["stop_grace_period"].removesuffix("s"))
    told = tomllib.loads(text_of("listwright.toml"))
    assert grace > told["drain-seconds"] + told["grace-seconds"]
    assert int(unit_lines("TimeoutStopSec")[0]) > told["drain-seconds"] + told["grace-seconds"]


@pytest.mark.system
def test_docker_accepts_the_compose_file():
    run = subprocess.run(
        [tool("docker"), "compose", "-f", DEPLOY / "compose.yaml", "config", "-q"], capture_output=True
    )
    if b"unknown" in run.stderr:
        pytest.skip("needs docker compose, which is not installed")
    assert run.returncode == 0, run.stderr


@pytest.mark.system
def test_systemd_accepts_the_unit(tmp_path):
    unit = tmp_path / "listwright.service"
    known = text_of("listwright.service").replace("/opt/listwright/bin/listwright", sys.executable)
    unit.write_text(re.sub(r"^(User|Group)=.*\n", "", known, flags=re.MULTILINE))
    run = subprocess.run([tool("systemd-analyze"), "verify", unit], capture_output=True, text=True)
    assert (run.returncode, run.stderr) == (0, "")


def test_nginx_has_room_for_what_the_service_takes():
    text = re.sub(r"#.*", "", text_of("nginx.conf"))
    assert text.count("{") == text.count("}")
    sizes = [int(size) * MEBIBYTE for size in re.findall(r"client_max_body_size (\d+)m;", text)]
    assert sizes == [Limits().body_bytes, Limits().model_bytes]
    waits = [int(seconds) for seconds in re.findall(r"proxy_read_timeout (\d+)s;", text)]
    assert waits[0] > Limits().seconds
    assert waits[1] > Limits().upload_seconds
    statements = [line.strip() for line in text.splitlines() if line.strip()]
    assert all(line.endswith((";", "{", "}")) for line in statements)


def version_of(nginx):
    told = subprocess.run([nginx, "-v"], check=True, capture_output=True, text=True).stderr
    return tuple(int(part) for part in re.search(r"nginx/([0-9.]+)", told)[1].split("."))


@pytest.mark.system
def test_nginx_accepts_its_file(tmp_path):
    nginx = tool("nginx")
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    made = [tool("openssl"), "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-days", "1"]
    subprocess.run([*made, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    text = text_of("nginx.conf").replace("/etc/nginx/tls", str(tmp_path)).replace("listwright:8000", "127.0.0.1:8000")
    if version_of(nginx) < (1, 25, 1):
        text = re.sub(r"listen 443 ssl;\s+http2 on;", "listen 443 ssl http2;", text)  # as its comment says
    (tmp_path / "nginx.conf").write_text(text)
    subprocess.run([nginx, "-t", "-c", tmp_path / "nginx.conf", "-p", tmp_path], check=True)


@pytest.fixture
def started(benchmarks, model_file, tmp_path):
    """The service as the unit starts it, in folders of the test."""
    from benchmarks.reliability.server import Server, free_port, is_ready

    def moved(text):
        for old, new in (("/etc/listwright/listwright.toml", DEPLOY / "listwright.toml"),
                         ("/etc/listwright/model.listwright", model_file),
                         ("/etc/listwright", tmp_path), ("/var/lib/listwright", tmp_path),
                         ("/var/cache/listwright", os.environ.get("NUMBA_CACHE_DIR", ""))):  # fmt: skip
            text = text.replace(old, str(new))
        return text

    key = new_key("read", tmp_path / "keys.json")
    port, log = free_port(), tmp_path / "log"
    variables = dict(moved(line).partition("=")[::2] for line in unit_lines("Environment"))
    own = {"LISTWRIGHT_PORT": str(port), "LISTWRIGHT_DRAIN_SECONDS": "0.1"}
    command = shlex.split(moved(unit_lines("ExecStart")[0]))[1:]
    main = [sys.executable, "-m", "listwright", *command]
    environment = {name: value for name, value in (os.environ | variables | own).items() if value}
    with log.open("wb") as output:
        process = subprocess.Popen(main, stdout=output, stderr=output, env=environment)
    server = Server(process, port, log)
    try:
        while not is_ready(server):
            with suppress(subprocess.TimeoutExpired):
                pytest.fail(f"ended with {process.wait(0.05)}: {log.read_text()}")
        yield server, key
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()


@pytest.mark.system
def test_the_service_starts_as_the_unit_says_and_stops_in_good_order(started):
    server, key = started
    with pytest.raises(HTTPError, match="401") as refused:
        urlopen(f"{server.url}/v1/stats")
    refused.value.close()
    with urlopen(Request(f"{server.url}/v1/learning", headers={"Authorization": f"Bearer {key}"})) as answer:
        assert json.load(answer)["on"] is True
    server.process.send_signal(signal.SIGTERM)
    assert server.process.wait() in (0, -signal.SIGTERM)
    lines = [line for line in server.log.read_text().splitlines() if line.startswith("{")]
    assert any(json.loads(line)["message"] == "deployed" for line in lines)
