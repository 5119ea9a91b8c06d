"""Prints Maven's global settings, the file of which is the argument, with the proxy of the variables PROXY and no_proxy."""

import os
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit
from xml.etree import ElementTree

NAMESPACE = "http://maven.apache.org/SETTINGS/1.2.0"
DEFAULT_PORTS = {"http": 80, "https": 443}


def hosts_without(no_proxy):
    """What Java calls non-proxy hosts: names separated by bars, with a star where the variable has a leading dot."""
    names = (name.strip().partition(":")[0] if name.count(":") == 1 else name.strip() for name in no_proxy.split(","))
    return "|".join("*" + name if name.startswith(".") else name for name in names if name)


def proxy_of(address, no_proxy):
    parts = urlsplit(address if "://" in address else "http://" + address)
    values = {"id": "environment", "active": "true", "protocol": "http", "host": parts.hostname,
              "port": parts.port or DEFAULT_PORTS.get(parts.scheme, 80), "nonProxyHosts": hosts_without(no_proxy)}
    if parts.username:
        values |= {"username": unquote(parts.username), "password": unquote(parts.password or "")}
    return values


def main():
    path = Path(sys.argv[1])
    settings = ElementTree.parse(path).getroot() if path.exists() else ElementTree.Element(f"{{{NAMESPACE}}}settings")
    space = settings.tag.partition("}")[0] + "}" if settings.tag.startswith("{") else ""
    ElementTree.register_namespace("", space.strip("{}"))
    proxies = settings.find(f"{space}proxies")
    if proxies is None:
        proxies = ElementTree.SubElement(settings, f"{space}proxies")
    proxy = ElementTree.SubElement(proxies, f"{space}proxy")
    for name, value in proxy_of(os.environ["PROXY"], os.environ.get("no_proxy", "")).items():
        ElementTree.SubElement(proxy, f"{space}{name}").text = str(value)
    print(ElementTree.tostring(settings, encoding="unicode"))


if __name__ == "__main__":
    main()
