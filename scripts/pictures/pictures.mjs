// The pictures: name, address, an element that shows that the page is complete, and the steps before the picture.
import { MAIN_SESSION } from "./fill-store.mjs";

const MAIN = `/sessions/${encodeURIComponent(MAIN_SESSION)}`;

/** Pictures of an empty store. */
export const START_PICTURES = [
  { name: "dashboard-start", path: "/", element: ".chart canvas" },
  { name: "dashboard-start-dark", path: "/", element: ".chart canvas", theme: "dark" },
];

/** Pictures of a store with conversations; `edits` are seqs of edits in the main one. */
export function listFilledPictures({ edits }) {
  const overview = { path: "/", element: ".session-cell", prepare: waitForCharts };
  const edit = edits.at(-1);
  return [
    { name: "dashboard-overview", ...overview, height: 900 },
    { name: "dashboard-overview-dark", ...overview, theme: "dark", height: 900 },
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
    { name: "dashboard-tasks", path: "/tasks", element: ".task-name", height: 460 },
    {
      name: "dashboard-phone",
      ...overview,
      theme: "dark",
      locale: "zh-CN",
      width: 390,
      height: 800,
      scale: 2,
    },
    { name: "dashboard-health", path: "/health", element: ".chart canvas", prepare: work, height: 900 },
  ];
}

async function waitForCharts(page) {
  await page.locator(".chart canvas").first().waitFor();
}

async function openEdit(page, seq) {
  await page.locator(`.edit[data-seq="${seq}"] summary`).click();
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
  await page.locator(".scores").scrollIntoViewIfNeeded();
}

/** Keeps the gateway busy for some seconds, so that its curves have something to show. */
async function work(page, { url }) {
  for (let round = 0; round < 60; round++) {
    await page.request.get(`${url}/api/v1/recall?q=depot+${round}+attempt&k=${10 + (round % 20)}`);
    await page.waitForTimeout(round % 12 < 6 ? 100 : 450);
  }
  await page.reload();
  await page.locator(".chart canvas").first().waitFor();
}
