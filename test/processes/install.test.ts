import { execFile, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { homedir } from "node:os";
import { basename, delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { testFolder } from "../support/folder.ts";
import { proofTest } from "../support/proof.ts";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../../", import.meta.url));
/** The packages of a new clone are in npm's cache, so that nothing is fetched again. */
const CACHED = ["--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error"];
const env = { ...process.env, PATH: [dirname(process.execPath), process.env.PATH].join(delimiter) };
const NPM_MS = 100_000;

function npm(args: readonly string[], cwd: string) {
  return run("npm", [...args], { cwd, env, timeout: NPM_MS });
}

let packing: Promise<string> | undefined;

/** The package as it would be published, built once for all tests. */
function packPackage(): Promise<string> {
  packing ??= pack(mkdtempSync(join(homedir(), "package-")));
  return packing;
}

async function pack(folder: string): Promise<string> {
  await npm(["pack", root, "--pack-destination", folder, "--loglevel=error"], folder);
  return join(folder, readdirSync(folder).find((name) => name.endsWith(".tgz")) as string);
}

/** Arguments of a Dockerfile instruction in its JSON form. */
function readInstruction(name: string): readonly string[] {
  const line = new RegExp(`^${name} .*?(\\[.*\\])$`, "m").exec(
    readFileSync(join(root, "Dockerfile"), "utf8"),
  );
  return JSON.parse(line?.[1] ?? "[]");
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

describe("the published package", () => {
  proofTest(
    "the published package installs in an empty project, runs, and brings no native code and no install script",
    async () => {
      const tarball = await packPackage();
      const project = testFolder();
      writeFileSync(join(project, "package.json"), '{ "private": true }');
      await npm(["install", tarball, ...CACHED], project);
      const files = readdirSync(join(project, "node_modules"), { recursive: true }).map(String);
      expect(files.filter((path) => /\.node$|binding\.gyp$/.test(path))).toEqual([]);
      const lock = JSON.parse(readFileSync(join(project, "package-lock.json"), "utf8"));
      const packages: readonly { readonly hasInstallScript?: boolean }[] = Object.values(lock.packages);
      expect(packages.filter(({ hasInstallScript }) => hasInstallScript)).toEqual([]);
      expect(files.filter((path) => /^longhaul\/(?:src|test|bench|node_modules)\//.test(path))).toEqual([]);
      const version = JSON.parse(readFileSync(join(root, "package.json"), "utf8")).version;
      const bin = join(project, "node_modules/.bin/longhaul");
      expect((await run(bin, ["--version"], { env })).stdout.trim()).toBe(version);
      const script =
        'import("longhaul").then(({ openKernel }) => openKernel({ path: ":memory:" })).then((k) => k.close())';
      await run(process.execPath, ["-e", script], { cwd: project, env });
      // An absolute path would be taken for a program.
      const npx = await run("npx", ["--yes", "--prefer-offline", `./${basename(tarball)}`, "help"], {
        cwd: dirname(tarball),
        env,
        timeout: NPM_MS,
      });
      expect(npx.stdout).toContain("longhaul: the memory of long-running agents.");
    },
  );

  proofTest(
    "the published package installs globally, works from any folder, and leaves no file when it is uninstalled",
    async () => {
      const tarball = await packPackage();
      const prefix = testFolder();
      const place = ["--global", "--prefix", prefix];
      await npm(["install", ...place, tarball, ...CACHED], testFolder());
      const [home, cwd] = [testFolder(), testFolder()];
      mkdirSync(join(home, ".claude"));
      const bin = join(prefix, process.platform === "win32" ? "longhaul.cmd" : "bin/longhaul");
      const there = { cwd, env: { PATH: env.PATH, HOME: home } };
      await run(bin, ["connect", "claude-code", "--yes"], there);
      expect(existsSync(join(home, ".claude/settings.json"))).toBe(true);
      await run(bin, ["disconnect"], there);
      expect(existsSync(join(home, ".claude/settings.json"))).toBe(false);
      await npm(["uninstall", ...place, "longhaul", "--loglevel=error"], testFolder());
      const left = readdirSync(prefix, { recursive: true }).map(String);
      expect(left.filter((path) => /longhaul|zod|genai/.test(path))).toEqual([]);
    },
  );
});

describe("the container", () => {
  test("the container runs as an unprivileged user on read-only files with one volume", () => {
    const file = readFileSync(join(root, "Dockerfile"), "utf8");
    const [, last = ""] = file.split(/^FROM .*$/m).slice(1);
    expect(last.trimEnd().split("\n").indexOf("USER node")).toBeGreaterThan(0);
    expect(last).toContain("VOLUME /data");
    expect(last).not.toMatch(/^COPY \. /m);
    const compose = readFileSync(join(root, "compose.yaml"), "utf8");
    for (const line of [
      "read_only: true",
      "- ALL",
      "no-new-privileges:true",
      "127.0.0.1:4747:4747",
      "data:/data",
    ])
      expect(compose).toContain(line);
  });

  test("the container starts from its entry point with only its volume writable, and its health check is true", async () => {
    const [data, token] = [testFolder(), "9f3c1a7be20d4586c1f07ea2b85d6934e7a0c2d8"];
    const [, flag = "", main = ""] = readInstruction("ENTRYPOINT");
    expect(main).toBe("/usr/local/lib/node_modules/longhaul/dist/cli/main.js");
    const port = await findFreePort();
    const check = readInstruction("HEALTHCHECK")
      .slice(1)
      .map((word) => word.replace("4747", String(port)));
    const isHealthy = () =>
      run(process.execPath, [...check]).then(
        () => true,
        () => false,
      );
    expect(await isHealthy()).toBe(false);
    chmodSync(data, 0o700);
    const args = [flag, join(root, "dist/cli/main.js"), ...readInstruction("CMD"), "--port", String(port)];
    const gateway = spawn(process.execPath, args, {
      cwd: data,
      env: { PATH: env.PATH, HOME: "/nonexistent", LONGHAUL_HOME: data, LONGHAUL_TOKEN: token },
    });
    onTestFinished(() => void gateway.kill("SIGKILL"));
    await expect.poll(isHealthy).toBe(true);
    const open = await fetch(`http://127.0.0.1:${port}/api/v1/health`);
    const known = await fetch(`http://127.0.0.1:${port}/api/v1/health`, {
      headers: { "x-longhaul-token": token },
    });
    expect([open.status, known.status]).toEqual([401, 200]);
    gateway.kill("SIGTERM");
    expect((await once(gateway, "exit"))[0]).toBe(143);
  });

  test("the container does not receive the folders that its build creates", () => {
    const ignored = readFileSync(join(root, ".dockerignore"), "utf8").split("\n");
    expect(ignored).toEqual(expect.arrayContaining([".git", "node_modules", "dist"]));
    const listed = execFileSync("git", ["ls-files", "dist", "node_modules"], { cwd: root, encoding: "utf8" });
    expect(listed).toBe("");
  });
});
