import { spawnSync } from "node:child_process";
import { cpSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { testFolder } from "../support/folder.ts";
import { ask, startGateway } from "../support/gateway.ts";

// biome-ignore lint/suspicious/noExplicitAny: parsed files of other programs.
type Parsed = any;

const DASHBOARD = "deploy/grafana/dashboards/longhaul.json";

function readYaml(path: string): Parsed {
  return parse(readFileSync(path, "utf8"), { merge: true });
}

test("every query of the dashboard names metrics that /metrics exports, with their labels", async () => {
  const dashboard: Parsed = JSON.parse(readFileSync(DASHBOARD, "utf8"));
  const gateway = await startGateway({ upstream: "http://127.0.0.1:1" });
  const { text } = await ask(gateway, { method: "GET", path: "/metrics" });
  const types = new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [name, type]));
  const queries: string[] = dashboard.panels.flatMap((panel: Parsed) =>
    (panel.targets ?? []).map(({ expr }: Parsed) => expr),
  );
  expect(queries.length).toBeGreaterThan(25);
  const named = new Set<string>();
  for (const query of queries) {
    const names = [...query.matchAll(/\b(?:longhaul|process|nodejs)_[a-z_]+/g)].map(([name]) => name);
    expect(names, query).toHaveLength(1);
    const [name = ""] = names;
    const family = name.replace(/_(bucket|sum|count)$/, "");
    const isHistogram = types.get(family) === "histogram";
    expect(types.has(name) || isHistogram, `${name} is not exported`).toBe(true);
    if (/\b(rate|increase)\(/.test(query))
      expect(["counter", "histogram"], query).toContain(types.get(name) ?? types.get(family));
    named.add(family);
  }
  // A new counter of the gateway belongs on the dashboard, or in this list.
  const left = [
    "longhaul_api_requests_total",
    "longhaul_images_freed_total",
    "longhaul_image_bytes_freed_total",
  ];
  const counters = [...types]
    .filter(([name, type]) => name?.startsWith("longhaul_") && type === "counter")
    .map(([name]) => name);
  const stored = /_(stored|bytes_stored)_total$/;
  expect(
    counters.filter((name = "") => !named.has(name) && !left.includes(name) && !stored.test(name)),
  ).toEqual([]);
});

test("the compose file starts two gateways and two workers, and everything it mentions exists", () => {
  const compose = readYaml("deploy/compose.yaml");
  const { gateway, worker, postgres, proxy, prometheus, grafana } = compose.services;
  expect([gateway.deploy.replicas, worker.deploy.replicas]).toEqual([2, 2]);
  for (const service of [gateway, worker]) {
    expect(service.read_only).toBe(true);
    expect(service.environment.LONGHAUL_STORE).toContain("@postgres/longhaul");
    expect(service.depends_on.postgres.condition).toBe("service_healthy");
    expect(service.ports).toBeUndefined();
  }
  expect(postgres.ports).toBeUndefined();
  expect([prometheus.profiles, grafana.profiles]).toEqual([["monitoring"], ["monitoring"]]);
  expect(proxy.ports).toContain("443:443");
  const examples = readFileSync("deploy/.env.example", "utf8");
  const text = readFileSync("deploy/compose.yaml", "utf8");
  for (const [, name] of text.matchAll(/\$\{([A-Z_]+)/g)) expect(examples).toContain(`${name}=`);
  for (const service of Object.values<Parsed>(compose.services)) {
    for (const volume of service.volumes ?? []) {
      const [from] = volume.split(":");
      if (!from.startsWith("./")) expect(Object.keys(compose.volumes)).toContain(from);
      // Files that the user makes from an example.
      else
        expect(
          existsSync(join("deploy", from)) ||
            existsSync(join("deploy", from.replace(/(\.\w+)$/, ".example$1"))),
        ).toBe(true);
    }
    for (const name of Object.keys(Array.isArray(service.depends_on) ? {} : (service.depends_on ?? {})))
      expect(Object.keys(compose.services)).toContain(name);
  }
});

/** The part of the compose specification that the files use; a misspelled or misplaced key is refused. */
const text = z.string().min(1);
const duration = z.string().regex(/^(\d+(ms|s|m|h))+$/);
const environment = z.record(z.string().regex(/^[A-Z_]+$/), z.union([z.string(), z.null()]));
const serviceSchema = z.strictObject({
  build: text.optional(),
  image: text.optional(),
  command: z.array(text).optional(),
  restart: z.enum(["no", "always", "on-failure", "unless-stopped"]).optional(),
  init: z.boolean().optional(),
  read_only: z.boolean().optional(),
  tmpfs: z.array(z.string().regex(/^\/\w+(:[\w=,]+)?$/)).optional(),
  shm_size: z
    .string()
    .regex(/^\d+(kb|mb|gb)$/)
    .optional(),
  cap_drop: z.array(text).optional(),
  security_opt: z.array(text).optional(),
  profiles: z.array(text).optional(),
  stop_grace_period: duration.optional(),
  environment: environment.optional(),
  ports: z.array(z.string().regex(/^([\d.]+:)?\d+:\d+$/)).optional(),
  volumes: z.array(z.string().regex(/^[\w./-]+:\/[\w./-]+(:ro)?$/)).optional(),
  secrets: z.array(text).optional(),
  deploy: z.strictObject({ replicas: z.int().min(1) }).optional(),
  depends_on: z
    .union([
      z.array(text),
      z.record(text, z.strictObject({ condition: z.enum(["service_started", "service_healthy"]) })),
    ])
    .optional(),
  healthcheck: z
    .union([
      z.strictObject({ disable: z.literal(true) }),
      z.strictObject({ test: z.array(text), interval: duration, timeout: duration, retries: z.int().min(1) }),
    ])
    .optional(),
});
const composeSchema = z.strictObject({
  services: z.record(text, serviceSchema),
  volumes: z.record(text, z.null()).optional(),
  secrets: z.record(text, z.strictObject({ environment: text })).optional(),
});

test.each(["compose.yaml", "deploy/compose.yaml"])(
  "%s has only keys and values of the compose specification",
  (path) => {
    const entries = Object.entries(readYaml(path)).filter(([key]) => !key.startsWith("x-"));
    expect(composeSchema.safeParse(Object.fromEntries(entries)).error?.issues ?? []).toEqual([]);
  },
);

test.each(["deploy/.env.example", "deploy/systemd/longhaul.env.example"])(
  "%s has no empty setting",
  (path) => {
    const lines = readFileSync(path, "utf8").split("\n");
    expect(lines.filter((line) => /^[A-Z_]+=\s*$/.test(line))).toEqual([]);
  },
);

test("the workflow runs the checks for a change, and publishes tags with their provenance", () => {
  const { jobs } = readYaml(".github/workflows/ci.yml");
  expect(jobs.check.steps.map(({ run }: Parsed) => run)).toContain(".ci/run");
  const published = jobs.package.steps.map(({ run }: Parsed) => run);
  expect(published).toContain("npm publish --provenance --access public");
  expect(jobs.package.permissions["id-token"]).toBe("write");
  expect([jobs.package.needs, jobs.image.needs]).toEqual(["check", "check"]);
});

const hasSystemd = spawnSync("systemd-analyze", ["--version"]).status === 0;
test.skipIf(!hasSystemd)("systemd accepts the units (skipped without systemd-analyze)", () => {
  const folder = testFolder();
  for (const unit of ["gateway", "worker"]) {
    const path = join(folder, `longhaul-${unit}@4747.service`);
    cpSync(`deploy/systemd/longhaul-${unit}@.service`, path);
    const { stderr } = spawnSync("systemd-analyze", ["verify", "--man=no", path], { encoding: "utf8" });
    expect(stderr.split("\n").filter((line) => line.includes(`longhaul-${unit}`))).toEqual([]);
  }
});

test("the files of Prometheus and Grafana fit together", () => {
  const prometheus = readYaml("deploy/prometheus/prometheus.yml");
  expect(prometheus.scrape_configs[0].dns_sd_configs[0]).toMatchObject({ names: ["gateway"], port: 4747 });
  const [source] = readYaml("deploy/grafana/provisioning/datasources/prometheus.yml").datasources;
  expect(source.url).toBe("http://prometheus:9090");
  const [provider] = readYaml("deploy/grafana/provisioning/dashboards/longhaul.yml").providers;
  expect(readYaml("deploy/compose.yaml").services.grafana.volumes).toContain(
    `./grafana/dashboards:${provider.options.path}:ro`,
  );
  expect(readdirSync("deploy/grafana/dashboards")).toEqual(["longhaul.json"]);
});

test("the units of systemd run commands of longhaul with the settings of the examples", () => {
  for (const unit of ["gateway", "worker"]) {
    const text = readFileSync(`deploy/systemd/longhaul-${unit}@.service`, "utf8");
    expect(text.match(/^\[[A-Z]\w+\]$/gm)).toEqual(["[Unit]", "[Service]", "[Install]"]);
    for (const line of text.split("\n").filter((one) => one !== "" && !/^[#[]/.test(one)))
      expect(line).toMatch(/^[A-Z]\w+=\S/);
    expect(text).toContain(`ExecStart=/usr/bin/env longhaul ${unit === "gateway" ? "serve" : "worker"} `);
  }
});
