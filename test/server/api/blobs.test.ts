import { expect, test } from "vitest";
import { startGateway } from "../../support/gateway.ts";
import { ApiClient } from "./support/api-client.ts";

const SVG = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>';

test("media that could run a script is downloaded as a file, and no reply of the API may run scripts", async () => {
  const gateway = await startGateway({ upstream: "http://127.0.0.1:9" });
  const api = await ApiClient.open(gateway);
  await api.post("/sessions", { id: "s" });
  const data = Buffer.from(SVG).toString("base64");
  const parts = [{ type: "data", data, mime: "image/svg+xml", name: 'a"\n<b>.svg' }];
  const { entries } = (await api.post("/sessions/s/entries", { messages: [{ role: "user", parts }] })).body;
  const { digest } = entries[0].message.parts[0];
  const response = await api.download(`/sessions/s/entries/1/blobs/${digest}`);
  expect(await response.text()).toBe(SVG);
  expect(response.headers.get("content-disposition")).toMatch(/^attachment; filename="[\w.() -]+"$/);
  expect(response.headers.get("x-content-type-options")).toBe("nosniff");
  expect(response.headers.get("content-security-policy")).toContain("sandbox");
  const page = await api.fetch("/sessions/s/entries");
  expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
  expect(page.headers.get("content-type")).toBe("application/json; charset=utf-8");
});

test("a large text appears as a blob with a preview, and whole on request", async () => {
  const gateway = await startGateway({ upstream: "http://127.0.0.1:9" });
  const api = await ApiClient.open(gateway);
  await api.post("/sessions", { id: "s" });
  const text = "The tide table. ".repeat(20_000);
  await api.post("/sessions/s/entries", { messages: [{ role: "user", text }] });
  const [brief] = (await api.get("/sessions/s/entries")).body.entries;
  expect(brief.message.parts[0]).toMatchObject({ type: "blob", of: "text" });
  const [full] = (await api.get("/sessions/s/entries?full=true")).body.entries;
  expect(full.message.parts[0].text).toBe(text);
  expect((await api.get("/sessions/s/entries/1")).body.message.parts[0].text).toBe(text);
  const blob = await api.download(`/sessions/s/entries/1/blobs/${brief.message.parts[0].digest}`);
  expect(blob.headers.get("content-type")).toBe("text/plain; charset=utf-8");
  expect(await blob.text()).toBe(text);
});
