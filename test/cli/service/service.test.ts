import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { buildLaunchdPlist, buildSystemdUnit } from "../../../src/cli/service/service-definition.ts";
import { testFolder } from "../../support/folder.ts";
import { jsonHere, runHere } from "../support/here.ts";

/** A computer with a fake service manager that records its calls. */
function computerWith(program: "systemctl" | "launchctl", script = "") {
  const [home, bin] = [testFolder(), testFolder()];
  const calls = join(bin, "calls");
  writeFileSync(join(bin, program), `#!/bin/sh\necho "$*" >> "${calls}"\n${script}\n`, { mode: 0o755 });
  const screen = {
    home,
    env: { PATH: bin },
    platform: program === "systemctl" ? "linux" : "darwin",
  } as const;
  const readCalls = () => (existsSync(calls) ? readFileSync(calls, "utf8").trimEnd().split("\n") : []);
  const path = join(
    home,
    program === "systemctl"
      ? ".config/systemd/user/longhaul.service"
      : "Library/LaunchAgents/longhaul.gateway.plist",
  );
  return { home, screen, readCalls, path };
}

const RUNNING = 'case "$2" in show) echo ActiveState=active; echo MainPID=42;; esac';

describe("a service of systemd", () => {
  test("a systemd service is shown first, installed after a yes, reported, and removed without a trace", async () => {
    const { screen, readCalls, path, home } = computerWith("systemctl", RUNNING);
    const dry = await runHere(["service", "install", "--dry-run"], screen);
    expect(dry.stdout).toContain("    ExecStart=");
    expect(dry.stdout).toContain("    systemctl --user enable longhaul.service");
    expect(dry.stdout).toContain(join(home, ".longhaul/service.env"));
    const declined = await runHere(["service", "install"], { ...screen, answer: "n" });
    expect(declined.stdout).toContain("Nothing was installed.");
    expect((await runHere(["service", "install"], screen)).code).toBe(2);
    expect(readCalls()).toEqual([]);
    expect(readdirSync(home)).toEqual([]);
    const agreed = await runHere(["service", "install"], { ...screen, answer: "yes" });
    expect(agreed.stdout).toContain("Installed and started.");
    expect(readCalls()).toEqual([
      "--user daemon-reload",
      "--user enable longhaul.service",
      "--user start longhaul.service",
    ]);
    expect(readFileSync(path, "utf8")).toContain(
      `serve --keep-histories --store "${join(home, ".longhaul")}"`,
    );
    const again = await jsonHere(["service", "install", "--yes"], screen);
    expect(again.value).toMatchObject({ manager: "systemd", path, state: "unchanged" });
    const status = await jsonHere(["service", "status"], screen);
    expect(status.value).toMatchObject({ isInstalled: true, isRunning: true, state: "active", pid: 42 });
    expect(status.value.isAnswering ? 0 : 1).toBe(status.code);
    const gone = await runHere(["service", "uninstall"], screen);
    expect(gone).toMatchObject({ code: 0, stdout: expect.stringContaining("The store stays.") });
    expect(readCalls().slice(-2)).toEqual(["--user disable --now longhaul.service", "--user daemon-reload"]);
    expect(readdirSync(dirname(path))).toEqual([]);
    expect((await jsonHere(["service", "uninstall"], screen)).value.state).toBe("not installed");
    expect((await jsonHere(["service", "status"], screen)).value).toMatchObject({ state: "not installed" });
  });

  test("a systemd service that fails to start is removed again, with the manager's message", async () => {
    const { screen, path } = computerWith(
      "systemctl",
      'case "$2" in start) echo "Failed to connect to bus" >&2; exit 1;; esac',
    );
    const failed = await jsonHere(["service", "install", "--yes"], screen);
    expect(failed.code).toBe(1);
    expect(failed.value.error).toMatchObject({
      code: "SERVICE_FAILED",
      message: expect.stringContaining("Failed to connect to bus"),
    });
    expect(existsSync(path)).toBe(false);
  });

  test("a systemd service is updated in place, and a failed update restores the earlier file", async () => {
    const { screen, path, home, readCalls } = computerWith(
      "systemctl",
      `case "$2" in restart) [ -e "$0.broken" ] && exit 1;; esac\nexit 0`,
    );
    await runHere(["service", "install", "--yes"], screen);
    const before = readFileSync(path, "utf8");
    writeFileSync(join(screen.env.PATH, "systemctl.broken"), "");
    expect((await runHere(["service", "install", "--yes", "--config", "other.json"], screen)).code).toBe(1);
    expect(readFileSync(path, "utf8")).toBe(before);
    expect(readCalls()).toContain("--user restart longhaul.service");
    expect(readdirSync(join(home, ".config/systemd/user"))).toEqual(["longhaul.service"]);
  });

  test("a systemd service never replaces or removes a unit file of the user's own", async () => {
    const { screen, path, readCalls } = computerWith("systemctl");
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, "[Service]\nExecStart=/bin/mine\n");
    for (const command of ["install", "uninstall"])
      expect(
        (await runHere(["service", command, ...(command === "install" ? ["--yes"] : [])], screen)).code,
      ).toBe(1);
    expect(readFileSync(path, "utf8")).toContain("/bin/mine");
    expect(readCalls()).toEqual([]);
  });

  test("a systemd service can be removed even without systemctl, and the agents still connected are listed", async () => {
    const { screen, path, home } = computerWith("systemctl");
    mkdirSync(join(home, ".claude"));
    await runHere(["connect", "--yes"], screen);
    await runHere(["service", "install", "--yes"], screen);
    const without = { ...screen, env: { PATH: testFolder() } };
    expect((await runHere(["service", "install", "--yes"], without)).stderr).toContain(
      "no systemctl on the PATH",
    );
    const gone = await runHere(["service", "uninstall"], without);
    expect(gone.stdout).toContain("Still connected: claude-code.");
    expect(existsSync(path)).toBe(false);
  });

  test("a systemd service quotes paths with special characters", () => {
    const unit = buildSystemdUnit({
      program: "/opt/my node",
      args: ['a"b', "50%", "$HOME"],
      home: "",
      store: "",
    });
    expect(unit).toContain('ExecStart="/opt/my node" "a\\"b" 50%% $$HOME\n');
  });

  test("a service refuses a path with a line break, which would add another setting", () => {
    const command = { program: "/opt/node", args: ["/x\nExecStartPre=/bin/evil"], home: "/", store: "/" };
    expect(() => buildSystemdUnit(command)).toThrow("line break");
    expect(() => buildLaunchdPlist(command)).toThrow("line break");
  });
});

describe("a service of launchd", () => {
  const STATE = 'case "$1" in print) printf "\\tstate = running\\n\\tpid = 7\\n";; esac';

  test("a launchd service is installed, reported and removed", async () => {
    const { screen, readCalls, path } = computerWith("launchctl", STATE);
    const domain = `gui/${process.getuid?.()}`;
    expect((await jsonHere(["service", "install", "--yes"], screen)).value.state).toBe("installed");
    expect(readCalls()).toEqual([`bootstrap ${domain} ${path}`]);
    expect(readFileSync(path, "utf8")).toContain("<string>longhaul.gateway</string>");
    expect((await jsonHere(["service", "status"], screen)).value).toMatchObject({ isRunning: true, pid: 7 });
    await runHere(["service", "uninstall"], screen);
    expect(readCalls().at(-1)).toBe(`bootout ${domain}/longhaul.gateway`);
    expect(existsSync(path)).toBe(false);
  });

  test("the property list of a launchd service escapes special characters in paths", () => {
    const text = buildLaunchdPlist({ program: "/a&b/<node>", args: ["serve"], home: "/h", store: "/s" });
    expect(text).toContain("<string>/a&amp;b/&lt;node&gt;</string>\n    <string>serve</string>");
    expect(text).toContain("<string>/s/gateway.log</string>");
  });
});

test("a system without a known service manager gets a reason and an alternative", async () => {
  const { code, stderr } = await runHere(["service", "install", "--yes"], { platform: "win32" });
  expect(code).toBe(1);
  expect(stderr).toContain('Run "longhaul serve" at login with the tools of your system.');
});
