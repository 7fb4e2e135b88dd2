import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "playwright-core";
import { expect, onTestFinished } from "vitest";
import { type Kernel, openKernel } from "../../src/kernel/index.ts";
import { browserProof, browserTest, openPage } from "../support/browser.ts";
import { testFolder } from "../support/folder.ts";
import { startGateway } from "../support/gateway.ts";
import { listHostileTexts } from "./support/hostile-texts.ts";

const QUIET = { upstream: "http://127.0.0.1:1" } as const;
const HOSTILE = listHostileTexts();
const SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" onload="window.__ran=1"><script>window.__ran=1</script></svg>';

/** Payloads of one conversation; a page of entries has all of them. */
const PART = 18;

/** A store whose titles, agents, projects, tool names, file names, notes and messages are all hostile. */
async function fillHostile(texts: readonly string[] = HOSTILE): Promise<string> {
  const path = testFolder();
  const kernel = await openKernel({ path, embedder: null });
  for (let index = 0; index < texts.length; index += PART)
    await writeHostile(kernel, `hostile-${index / PART}`, texts.slice(index, index + PART));
  await kernel.close();
  return path;
}

async function writeHostile(kernel: Kernel, id: string, texts: readonly string[]): Promise<void> {
  const [text = ""] = texts;
  const source = { format: text.slice(0, 120), id: text.slice(0, 120), path: text, cwd: `/${text}` };
  await using session = await kernel.session(id, { title: text, meta: { source } });
  for (const [at, payload] of texts.entries()) {
    const name = payload.slice(0, 60);
    await session.append({
      role: "user",
      parts: [
        { type: "text", text: `needle ${payload}` },
        { type: "data", data: Buffer.from(SVG), mime: "image/svg+xml", name: payload.slice(0, 100) },
      ],
    });
    const callId = `call-${at}`;
    const input =
      at % 2 === 0 ? { path: payload } : { file_path: payload, old_string: "x", new_string: payload };
    await session.append({
      role: "assistant",
      model: payload.slice(0, 100),
      parts: [
        { type: "reasoning", text: payload },
        { type: "text", text: payload },
        { type: "tool-call", callId, name, input },
      ],
    });
    await session.append({ role: "tool", parts: [{ type: "tool-result", callId, name, output: payload }] });
  }
  await session.note(text);
  await using child = await session.child({ title: text });
  await child.append({ role: "user", text });
  const window = session.window({ model: text.slice(0, 60), models: { "*": { window: 4_000 } } });
  await window.fit();
  await window.report({ inputTokens: 10, outputTokens: 1 });
}

/** Clicks and focuses everything that a payload may have left, then looks whether anything ran or anybody else was asked. */
async function checkUnharmed(page: Page): Promise<void> {
  const found = await page.evaluate(async () => {
    const rest = document.querySelectorAll("main *");
    for (const one of rest) {
      for (const type of ["click", "mouseover", "pointerenter", "focus", "toggle"])
        if (!(one instanceof HTMLAnchorElement) && !(one instanceof HTMLButtonElement))
          one.dispatchEvent(new Event(type));
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
    const handlers = [...rest].flatMap((one) =>
      [...one.attributes].filter(({ name }) => name.startsWith("on")),
    );
    const bad = [
      ...document.querySelectorAll(
        "main :is(script, iframe, object, embed, form[action], .markdown form, base, meta, link, style)",
      ),
    ];
    const links = [...document.querySelectorAll<HTMLAnchorElement>("main a[href]")].map(
      (link) => link.protocol,
    );
    const svg = [...document.querySelectorAll("main svg")].filter(
      (one) => !one.classList.contains("parts-bar") && !one.classList.contains("cost-bar"),
    );
    return {
      ran: "__ran" in window,
      handlers: handlers.length,
      bad: bad.map(({ outerHTML }) => outerHTML.slice(0, 100)),
      svg: svg.length,
      strange: links.filter((one) => !["http:", "https:", "mailto:"].includes(one)),
    };
  });
  expect(found).toEqual({ ran: false, handlers: 0, bad: [], svg: 0, strange: [] });
}

browserProof("none of 500 hostile texts runs in a list, a search or rendered Markdown", async () => {
  expect(HOSTILE.length).toBeGreaterThanOrEqual(500);
  const gateway = await startGateway({ ...QUIET, path: await fillHostile() });
  const { page, problems } = await openPage(`${gateway.url}/`);
  await page.getByRole("table", { name: "Conversations" }).waitFor();
  await checkUnharmed(page);
  for (const by of ["Project", "Model"]) await page.getByRole("button", { name: by }).click();
  await checkUnharmed(page);
  await page.goto(`${gateway.url}/spending`);
  await page.getByRole("table").waitFor();
  await checkUnharmed(page);
  await page.goto(`${gateway.url}/search?q=needle&k=100`);
  await page.locator(".hit").first().waitFor();
  await checkUnharmed(page);
  await page.goto(`${gateway.url}/search?q=${encodeURIComponent(HOSTILE[0] as string)}`);
  await page.getByRole("heading", { level: 1 }).waitFor();
  await checkUnharmed(page);
  expect(problems).toEqual([]);
});

/** Opens the pages of a conversation with everything that can be unfolded, and checks each. */
async function checkConversation(page: Page, url: string): Promise<void> {
  await page.goto(url);
  await page.locator("[data-seq] .fold").first().waitFor();
  await unfold(page);
  expect(await page.locator(".fold[open]").count()).toBeGreaterThan(PART / 2);
  await checkUnharmed(page);
  await page.getByRole("button", { name: "What the model sees" }).click();
  await page.getByText("messages in the next call").waitFor();
  await unfold(page);
  await checkUnharmed(page);
  await page.goto(`${url}/window`);
  await page.getByRole("heading", { name: "The next call" }).waitFor();
  await page.locator(".chart canvas").first().waitFor();
  await unfold(page);
  await checkUnharmed(page);
}

/** Opens all folds; their content is drawn one frame later. */
async function unfold(page: Page): Promise<void> {
  await page.evaluate(async () => {
    for (const fold of document.querySelectorAll("main details")) fold.setAttribute("open", "");
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  });
}

/** High enough that a whole conversation is in the page. */
const TALL = { viewport: { width: 1_280, height: 20_000 } };

browserTest(
  "hostile messages, tool names, titles, file names, links and SVG do not run in a conversation",
  async () => {
    // A text of each family: elements, links, special ones, and those that break out of their surroundings.
    const texts = HOSTILE.filter((_, index) => index % Math.ceil(HOSTILE.length / PART) === 0);
    const gateway = await startGateway({ ...QUIET, path: await fillHostile(texts) });
    const { page, problems } = await openPage(`${gateway.url}/connect`, TALL);
    await checkConversation(page, `${gateway.url}/sessions/hostile-0`);
    expect(problems.filter((problem) => !problem.startsWith("console:"))).toEqual([]);
  },
);

browserProof("none of 500 hostile texts runs in a conversation or its window", async () => {
  const gateway = await startGateway({ ...QUIET, path: await fillHostile() });
  const { page, problems } = await openPage(`${gateway.url}/connect`, TALL);
  for (let part = 0; part * PART < HOSTILE.length; part++)
    await checkConversation(page, `${gateway.url}/sessions/hostile-${part}`);
  expect(problems.filter((problem) => !problem.startsWith("console:"))).toEqual([]);
});

browserProof("none of 500 hostile texts survives the Markdown of messages", async () => {
  const gateway = await startGateway(QUIET);
  const { page, problems } = await openPage(`${gateway.url}/`);
  await page.locator(".excerpt .markdown p").first().waitFor();
  // The function is text because the test's bundler would rewrite import().
  const count = await page.evaluate(`(async (texts) => {
    const names = performance.getEntriesByType("resource").map(({ name }) => name);
    const module = await import(names.find((name) => name.includes("render-markdown")));
    const main = document.querySelector("main");
    const rendered = texts.map((text) => module.renderMarkdown(text));
    main.replaceChildren(...rendered);
    return rendered.length;
  })(${JSON.stringify(HOSTILE)})`);
  expect(count).toBeGreaterThan(300);
  await checkUnharmed(page);
  // While the sanitizer takes a text apart, the policy reports blocked styles; nothing is loaded.
  expect(problems.filter((problem) => !problem.startsWith("console:"))).toEqual([]);
});

browserTest("a page of another origin can neither read nor drive the gateway", async () => {
  const gateway = await startGateway(QUIET);
  await using session = await gateway.kernel.session("secret", { title: "Secret plans" });
  await session.append({ role: "user", text: "The code is 4711." });
  const foreign = createServer((_, response) =>
    response
      .setHeader("content-type", "text/html")
      .end("<!doctype html><title>elsewhere</title><body></body>"),
  );
  await new Promise<void>((resolve) => foreign.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void foreign.close());
  const { page } = await openPage(`http://127.0.0.1:${(foreign.address() as AddressInfo).port}/`);
  const outcome = await page.evaluate(async (url) => {
    const attempt = (options: RequestInit, path: string) =>
      fetch(url + path, options).then(
        (reply) => `${reply.type} ${reply.status}`,
        () => "refused",
      );
    const load = (tag: "img" | "script" | "iframe", path: string) =>
      new Promise<string>((resolve) => {
        const element = document.createElement(tag);
        element.addEventListener("load", () => {
          let seen = "loaded";
          if (element instanceof HTMLIFrameElement) {
            try {
              seen = element.contentDocument?.title ?? "closed";
            } catch {
              seen = "closed";
            }
          }
          resolve(seen);
        });
        element.addEventListener("error", () => resolve("failed"));
        element.src = url + path;
        document.body.append(element);
      });
    const json = { method: "POST", headers: { "content-type": "application/json" }, body: "{}" };
    const plain = {
      method: "POST",
      mode: "no-cors",
      headers: { "content-type": "text/plain" },
      body: '{"id":"forged"}',
    } as const;
    const opened = window.open(`${url}/`);
    await new Promise((resolve) => setTimeout(resolve, 300));
    let title = "closed";
    try {
      title = opened?.document.title ?? "closed";
    } catch {
      title = "closed";
    }
    return {
      read: await attempt({}, "/api/v1/sessions"),
      withCredentials: await attempt({ credentials: "include" }, "/api/v1/sessions"),
      write: await attempt(json, "/api/v1/sessions"),
      import: await attempt(json, "/api/v1/imports"),
      blind: await attempt(plain, "/api/v1/sessions"),
      events: await new Promise<string>((resolve) => {
        const source = new EventSource(`${url}/api/v1/events`);
        source.onopen = () => resolve("open");
        source.onerror = () => resolve("refused");
      }),
      socket: await new Promise<string>((resolve) => {
        const socket = new WebSocket(url.replace("http", "ws"));
        socket.onopen = () => resolve("open");
        socket.onerror = () => resolve("refused");
      }),
      script: await load("script", "/api/v1/sessions"),
      frame: await load("iframe", "/"),
      title,
    };
  }, gateway.url);
  const { blind, frame, title, ...others } = outcome;
  expect(others).toEqual({
    read: "refused",
    withCredentials: "refused",
    write: "refused",
    import: "refused",
    events: "refused",
    socket: "refused",
    script: "failed",
  });
  expect([blind, title]).toEqual([expect.stringMatching(/^opaque 0$|refused/), "closed"]);
  expect(["closed", "failed", ""]).toContain(frame);
  expect((await gateway.kernel.sessions({ limit: 10 })).map(({ id }) => id)).toEqual(["secret"]);
});

browserProof(
  "with tokens, the dashboard asks for a token, keeps it in the tab, and shows only that person's conversations",
  async () => {
    const tokens = [
      { name: "ada", env: "TOKEN_ADA" },
      { name: "bob", env: "TOKEN_BOB" },
    ];
    const env = { TOKEN_ADA: "token-of-ada-0123456789", TOKEN_BOB: "token-of-bob-0123456789" };
    const gateway = await startGateway({ ...QUIET, config: { tokens }, env });
    for (const name of ["ada", "bob"]) {
      await using session = await gateway.kernel.session(`@${name}/first`, { title: `Plans of ${name}` });
      await session.append({ role: "user", text: "hello" });
    }
    const { page, context } = await openPage(`${gateway.url}/sessions/x`);
    const field = page.getByLabel("Token");
    await field.fill("wrong");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("alert").waitFor();
    await field.fill(env.TOKEN_ADA);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("button", { name: "Sign out" }).waitFor();
    await page.goto(`${gateway.url}/`);
    await page.getByRole("link", { name: "Plans of ada" }).waitFor();
    expect(await page.getByText("Plans of bob").count()).toBe(0);
    expect(await context.cookies()).toEqual([]);
    expect(await page.evaluate(() => JSON.stringify({ ...localStorage }))).not.toContain("token-of");
    await page.getByRole("button", { name: "Sign out" }).click();
    await field.waitFor();
    expect(await page.evaluate(() => JSON.stringify({ ...sessionStorage }))).not.toContain("token-of");
  },
);
