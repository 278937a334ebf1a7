"""A base image that lies on its author's machine alone."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from gpuwhy.knowledge.tables import source
from gpuwhy.lint.scope import Scope
from gpuwhy.model.lint import Mistake, Rule

RULE = Rule("local-image", "warning", "a base image that lies on its author's machine alone")

_KNOW = source("Docker's official images, November 2026", "names without a slash are theirs")
_NAMES = """
    adminer aerospike almalinux alpine alt amazoncorretto amazonlinux api-firewall arangodb archlinux backdrop bash
    bonita buildpack-deps busybox caddy cassandra centos chronograf cirros clearlinux clefos clickhouse clojure
    composer convertigo couchbase couchdb crate dart debian docker drupal eclipse-mosquitto eclipse-temurin eggdrop
    elasticsearch elixir emqx erlang express-gateway fedora flink fluentd friendica gazebo gcc geonetwork ghost golang
    gradle groovy haproxy haskell haxe hello-world hitch httpd hylang ibm-semeru-runtimes ibmjava influxdb irssi
    jenkins jetty jobber joomla jruby julia kapacitor kibana known kong krakend lightstreamer liquibase logstash mageia
    mariadb matomo maven mediawiki memcached mongo mongo-express monica mono mysql nats nats-streaming neo4j neurodebian
    nextcloud nginx node notary odoo open-liberty opensuse openjdk oraclelinux orientdb percona perl photon php
    phpmyadmin plone postfixadmin postgres pypy python r-base rabbitmq rakudo-star rapidoid redis redmine registry
    rethinkdb rocket.chat rockylinux ros ruby rust sapmachine satosa scratch silverpeas solr sonarqube spark
    spiped storm swift swipl telegraf thrift tomcat tomee traefik ubuntu unit varnish vault websphere-liberty
    wordpress xwiki yourls znc zookeeper
"""
_OFFICIAL = frozenset(_NAMES.split())
_BESIDE = ("README.md", "readme.md", "README.rst", "Makefile", "build.sh", "docker-compose.yml", "compose.yaml",
           "docker-compose.yaml", "docker_build.sh", "build_docker.sh", "build-docker.sh")  # fmt: skip


_SKETCH = re.compile(r"__|[<>{}]|template|placeholder|example|based?[-_]image|your[-_]|\bmy[-_]?image", re.IGNORECASE)
"""Names that somebody fills in."""
_PLACEHOLDER = 2  # FROM x: a sketch


def check(scope: Scope) -> Iterator[Mistake]:
    """A name without a slash that is no official image, or a registry without a domain, which nothing here builds."""
    image = scope.environment.image
    if scope.kind != "dockerfile" or image is None or "$" in image.text or not scope.environment.runs:
        return
    if scope.environment.made_elsewhere or _SKETCH.search(f"{image.text} {posixpath.basename(image.place.path)}"):
        return
    path = re.sub(r"[:@][^/]*$", "", image.text)
    alone = "/" not in path and len(path) > _PLACEHOLDER and path.lower() not in _OFFICIAL
    unnamed = re.match(r"([\w-]+:\d+|localhost)/", image.text)
    name = path.rsplit("/", 1)[-1]
    if (alone or unnamed) and not _is_built(scope, name) and not scope.repository.names_image(name):
        where = "Docker's registry has no image of that name" if alone else "that registry is a machine of its author's"
        text = f"image {image.text}: {where}, and nothing beside builds it"
        yield RULE.mistake(image.place, text, _KNOW, "name a public image, or say how this one is built")


def _is_built(scope: Scope, name: str) -> bool:
    """Whether a file beside the Dockerfile, or above it, makes an image of that name."""
    folder = posixpath.dirname(scope.environment.path)
    folders = dict.fromkeys((folder, posixpath.dirname(folder), posixpath.dirname(posixpath.dirname(folder)), ""))
    wanted = re.compile(rf"(-t|--tag|image:|docker (build|pull|load).*)[ =]*[\"']?(\S*/)?{re.escape(name)}\b")
    texts = [(one, scope.read(posixpath.join(f, one)) or "") for f in folders for one in _BESIDE]
    if any(scope.read(posixpath.join(folder, one)) for one in _siblings(name)):
        return True
    return any(wanted.search(text) or ("compose" in one and _is_service(text, name)) for one, text in texts)


def _is_service(compose: str, name: str) -> bool:
    """Whether an image has the name that Compose gives to what it builds: folder_service, folder-service."""
    services = re.findall(r"^ {1,4}([\w.-]+):\s*(?:#.*)?$", compose, re.MULTILINE)
    return any(name.endswith((f"_{service}", f"-{service}")) for service in services)


def _siblings(name: str) -> list[str]:
    """The Dockerfiles that an image may be built from, by the last part of its name: shop-deps from Dockerfile.deps."""
    part = re.split(r"[-_]", name)[-1]
    return [
        f"Dockerfile.{part}",
        f"Dockerfile-{part}",
        f"{part}.Dockerfile",
        f"{part}/Dockerfile",
        f"../{part}/Dockerfile",
    ]
