// The pictures: name, address, an element that shows that the page is complete, and the steps before the picture.
import { MAIN_SESSION } from "./fill-store.mjs";

const MAIN = `/sessions/${encodeURIComponent(MAIN_SESSION)}`;

/** Pictures of an empty store. */
export const START_PICTURES = [
  { name: "dashboard-start", path: "/", element: ".chart canvas" },
  { name: "dashboard-start-dark", path: "/", element: ".chart canvas", theme: "dark" },
];

/** Tasks, one of which runs. */
export const TASKS_PICTURE = { name: "dashboard-tasks", path: "/tasks", element: ".task-name", height: 460 };

/** The curves of a gateway that works. */
export const HEALTH_PICTURE = {
  ...{ name: "dashboard-health", path: "/health", element: ".chart canvas", prepare: work, height: 900 },
};

/** Pictures of a store with conversations; `edits` are seqs of edits in the main one. */
export function listFilledPictures({ edits }) {
  const overview = { path: "/", element: ".session-cell", prepare: waitForCharts };
  const edit = edits.at(-1);
  return [
    { name: "dashboard-overview", ...overview, height: 1_240 },
    { name: "dashboard-overview-dark", ...overview, theme: "dark", height: 1_240 },
    {
      ...{
        name: "dashboard-conversation",
        path: `${MAIN}?entry=${edit}`,
        element: `.edit[data-seq="${edit}"]`,
      },
      prepare: (page) => openEdit(page, edit),
    },
    {
      name: "dashboard-window",
      path: `${MAIN}/window`,
      element: ".chart canvas",
      prepare: showReceipt,
      height: 900,
    },
    { name: "dashboard-policies", path: `${MAIN}/window`, element: ".chart canvas", prepare: tryPolicies },
    {
      ...{ name: "dashboard-memory", path: "/memory?q=which+port+has+the+staging+database", element: ".hit" },
      prepare: (page) => page.locator(".hit details summary").first().click(),
    },
    {
      name: "dashboard-phone",
      ...overview,
      theme: "dark",
      locale: "zh-CN",
      width: 390,
      height: 800,
      scale: 2,
    },
  ];
}

/** Waits for the curve, the cache panel, and the replays that the estimate is made of. */
async function waitForCharts(page, { url }) {
  await page.locator(".chart canvas").first().waitFor();
  const isReplaying = async () => (await (await fetch(`${url}/api/v1/usage/estimate`)).json()).isRunning;
  if (await isReplaying()) {
    while (await isReplaying()) await page.waitForTimeout(500);
    await page.reload();
    await page.locator(".chart canvas").first().waitFor();
  }
  await page.waitForFunction(() => !document.body.textContent.includes("Loading…"), null, {
    timeout: 60_000,
  });
}

async function openEdit(page, seq) {
  await page.locator(`.edit[data-seq="${seq}"] summary`).click();
  await page.locator(".session-head .facts .number").waitFor();
}

/** Points at the last edit of the curve, so that its receipt shows. */
async function showReceipt(page) {
  await page.keyboard.press("[");
  await page.locator(".edit-card").waitFor();
}

async function tryPolicies(page) {
  await page.getByLabel("Window in tokens").fill("32000");
  await page.getByRole("button", { name: "Replay" }).click();
  await page.locator(".scores tbody tr").first().waitFor({ timeout: 60_000 });
  await page.getByRole("heading", { name: "Try another policy" }).evaluate((heading) => {
    scrollTo(0, heading.getBoundingClientRect().top + scrollY - 80);
  });
}

const WORK_MS = 40_000;

/** Keeps the gateway busy for some time, with one relief, so that its curves have something to show. */
async function work(page, { url }) {
  const startedAt = Date.now();
  let isRelieved = false;
  for (let round = 0; Date.now() - startedAt < WORK_MS; round++) {
    await page.request.get(`${url}/api/v1/recall?q=depot+${round}+attempt&k=${10 + (round % 20)}`);
    await page.waitForTimeout(round % 12 < 6 ? 100 : 450);
    if (isRelieved || Date.now() - startedAt < 0.6 * WORK_MS) continue;
    isRelieved = true;
    await page.request.post(`${url}/api/v1/health/relieve`, { data: {} });
  }
  await page.reload();
  await page.locator(".chart canvas").first().waitFor();
}
