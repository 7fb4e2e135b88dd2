import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer as createHttps } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { buildUpstreamUrl, readUpstreamBody } from "../../../../src/server/gateway/upstream/send-upstream.ts";
import { reasonOf, sender } from "./sender.ts";

test("an untrusted certificate is refused, and a trusted one is accepted", async ({ skip }) => {
  const certificate = selfSigned();
  if (!certificate) return skip("openssl is not installed");
  const server = createHttps(certificate, (_, response) => response.end("x"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const url = `https://localhost:${(server.address() as AddressInfo).port}`;
  const local = { url: { ...buildUpstreamUrl({ baseUrl: url }, "/v1/models"), hostname: "localhost" } };
  expect(await reasonOf(sender(url)(local))).toBe("tls");
  const { body } = await sender(url, { certificates: certificate.cert })(local);
  expect((await readUpstreamBody(body, 10)).raw.toString()).toBe("x");
});

/** A key and a certificate for localhost, created for this run. */
function selfSigned(): { readonly key: string; readonly cert: string } | undefined {
  const folder = mkdtempSync(join(tmpdir(), "longhaul-certificate-"));
  try {
    const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
    const options = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1"];
    const names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
    const made = spawnSync("openssl", ["req", "-x509", ...options, ...names, "-keyout", key, "-out", cert]);
    return made.status === 0
      ? { key: readFileSync(key, "utf8"), cert: readFileSync(cert, "utf8") }
      : undefined;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
