import { expect, onTestFinished } from "vitest";
import { commandAgent } from "../../src/kernel/faces/task.ts";
import { openKernel } from "../../src/kernel/index.ts";
import { worktreeIsolation } from "../../src/tasks/worktree-isolation.ts";
import { browserProof, browserTest, openPage } from "../support/browser.ts";
import { startGateway, type TestGateway } from "../support/gateway.ts";
import { makeRepository } from "../tasks/worktree/repository.ts";
import { checkLooks } from "./support/looks.ts";

const QUIET = { upstream: "http://127.0.0.1:1" } as const;

/** Starts a task that says a line each time it is told to, until it is killed. */
async function startSpeaker({ kernel }: TestGateway, id: string) {
  let wake: ((line: string) => void) | undefined;
  const lines: string[] = [];
  const handle = await kernel.tasks.start(
    {
      name: "speaker",
      async *run({ signal }) {
        yield { type: "output", text: "ready" };
        while (!signal.aborted) {
          const line =
            lines.shift() ??
            (await new Promise<string>((resolve) => {
              wake = resolve;
              signal.addEventListener("abort", () => resolve(""), { once: true });
            }));
          if (line) yield { type: "output", text: line };
        }
      },
    },
    { to: 3 },
    { id, title: "Speak up", mode: "foreground", parentSession: "local/parent" },
  );
  const say = (line: string) => {
    if (wake) wake(line);
    else lines.push(line);
    wake = undefined;
  };
  return { handle, say };
}

browserTest("a live task is followed, detached and killed", async () => {
  const gateway = await startGateway(QUIET);
  await (await gateway.kernel.session("local/parent")).close();
  const { handle, say } = await startSpeaker(gateway, "t1");
  const { page, problems } = await openPage(`${gateway.url}/tasks`);
  await page.getByRole("link", { name: "Speak up" }).click();
  const output = page.getByRole("log", { name: "Output" });
  await output.getByText("ready").waitFor();
  say("the second line");
  await output.getByText("the second line").waitFor();

  await page.getByRole("button", { name: "Detach" }).click();
  await page.locator(".moves").getByText("moved to the background").first().waitFor();
  expect((await handle.status()).mode).toBe("background");
  await page.keyboard.press("x");
  await page.getByLabel("Reason, for the notice").fill("seen enough");
  await page.getByRole("dialog").getByRole("button", { name: "Kill" }).click();
  await page.locator(".task-head").getByText("killed").waitFor();
  expect((await handle.status()).outcome?.reason).toBe("seen enough");
  await page.getByRole("heading", { name: "Notice" }).waitFor();
  expect(new URL(page.url()).pathname).toBe("/tasks/t1");
  expect(problems).toEqual([]);
});

browserProof(
  "tasks of another process show their worktrees, states, children, output and notices",
  async () => {
    const repository = makeRepository();
    const gateway = await startGateway(QUIET);
    const root = repository.root;
    const kernel = await openKernel({
      path: gateway.path,
      embedder: null,
      tasks: { isolations: { worktree: worktreeIsolation({ repository: repository.path, root }) } },
    });
    onTestFinished(() => kernel.close());
    await (await kernel.session("local/parent", { title: "Staging after the move" })).close();
    const shell = (code: string) => ({ command: "sh", args: ["-c", code] });
    const work = await kernel.tasks.start(commandAgent(), shell("echo new > c.txt; echo done; echo oh >&2"), {
      id: "fix-clock",
      title: "Fix the clock of the staging host",
      isolation: "worktree",
      parentSession: "local/parent",
    });
    await work.wait();
    const failed = await kernel.tasks.start(commandAgent(), shell("echo trying; exit 3"), {
      id: "lint",
      title: "Lint everything",
      parentSession: "local/parent",
    });
    await failed.wait();
    const { say } = await startSpeaker(gateway, "speak");
    await kernel.tasks.cleaned();

    const { page, problems } = await openPage(`${gateway.url}/tasks`);
    await page.getByRole("row", { name: /completed Fix the clock/ }).waitFor();
    await page.getByRole("row", { name: /failed error|failed .*Lint/ }).waitFor();
    await checkLooks(page, "tasks-list");
    await page.getByRole("button", { name: "Live" }).click();
    await page.getByRole("link", { name: "Fix the clock" }).waitFor({ state: "detached" });
    expect(new URL(page.url()).searchParams.get("state")).toBe("live");
    await page.getByRole("link", { name: "Speak up" }).click();
    say("all is well");
    await page.getByRole("log").getByText("all is well").waitFor();
    await checkLooks(page, "tasks-live");

    await page.goto(`${gateway.url}/tasks/fix-clock`);
    const worktree = page.getByRole("region", { name: "Worktree" });
    await worktree.getByText("longhaul/fix-clock").waitFor();
    expect(await worktree.textContent()).toContain(root);
    await page.getByRole("log").getByText("done").waitFor();
    const history = await page.locator(".moves .pill").allTextContents();
    expect(history).toEqual(["queued", "running", "completed"]);
    await checkLooks(page, "tasks-worktree");
    await page.goto(`${gateway.url}/notices`);
    await page.locator(".notice").nth(1).waitFor();
    await page.locator(".notice").filter({ hasText: "Fix the clock" }).getByText("changed").first().waitFor();
    await checkLooks(page, "tasks-notices");
    await page.goto(`${gateway.url}/tasks/nothing`);
    await page.getByRole("alert").getByText("What to do").waitFor();
    expect(problems.filter((problem) => !problem.includes("404"))).toEqual([]);
  },
);
