import { generateKeyPairSync, sign } from "node:crypto";
import { expect, test } from "vitest";
import { OidcSignIn } from "../../../src/server/api/core/oidc-sign-in.ts";
import { ask, startGateway } from "../../support/gateway.ts";
import { testKernel } from "../../support/kernel.ts";
import { startOidcProvider } from "../../support/oidc-provider.ts";
import { ApiClient } from "./support/api-client.ts";

const SECRET = "client-secret-0123456789";

async function openProvider(settings: object = {}) {
  const provider = await startOidcProvider(SECRET);
  provider.claims = { email: "Ada@Example.org", email_verified: true };
  const gateway = await startGateway({
    upstream: "http://127.0.0.1:9",
    config: {
      team: true,
      oidc: {
        issuer: provider.issuer,
        clientId: "longhaul-test",
        clientSecretEnv: "OIDC_SECRET",
        join: ["*@example.org"],
        ...settings,
      },
    },
    env: { OIDC_SECRET: SECRET },
  });
  const api = await ApiClient.open(gateway);
  /** Signs in as a browser does: to the provider and back. */
  const visit = async (url: string) => {
    const reply = await fetch(url, { redirect: "manual" });
    return new URL(reply.headers.get("location") ?? "");
  };
  const begin = async () => {
    const { body } = await api.post("/sign-in/begin");
    return { tab: body.tab as string, back: await visit(body.url) };
  };
  return { provider, gateway, api, begin };
}

test("a person signs in at a provider and gets a personal token that expires", async () => {
  const { provider, gateway, api, begin } = await openProvider();
  expect((await api.get("/sign-in")).body).toEqual({ provider: "OpenID Connect" });
  expect((await api.get("/sessions")).status).toBe(401);
  const { tab, back } = await begin();
  expect(back.origin + back.pathname).toBe(`${gateway.url}/sign-in`);
  const { status, body } = await api.post("/sign-in/finish", { query: back.search.slice(1), tab });
  expect(status).toBe(200);
  expect(body.name).toBe("ada@example.org");
  expect(body.expiresAt).toBeLessThan(Date.now() + 13 * 3_600_000);
  const ada = api.as(body.token);
  expect((await ada.get("/people")).body.me).toEqual({ name: "ada@example.org", role: "member" });
  expect((await ada.post("/sessions", { id: "mine" })).body.id).toBe("@ada%40example.org/mine");
  expect(provider.exchanged).toHaveLength(1);
  const lines = JSON.stringify(gateway.logged);
  for (const secret of [body.token, tab, back.searchParams.get("code") ?? "?", SECRET])
    expect(lines).not.toContain(secret);
  const acts = await gateway.kernel.team.audit();
  expect(acts.map(({ act }) => act)).toContain("token.sign-in");
});

test("a sign-in can be finished only once, in the tab that began it and with the state of that tab", async () => {
  const { api, begin, provider } = await openProvider();
  const first = await begin();
  const other = await begin();
  const finish = (query: string, tab: string) => api.post("/sign-in/finish", { query, tab });
  const query = first.back.search.slice(1);
  const refused = [
    await finish(query, other.tab),
    await finish(query, "guess"),
    await finish("code=stolen&state=unknown", first.tab),
  ];
  for (const { status, body } of refused) expect([status, body.error.code]).toEqual([403, "SIGN_IN_FAILED"]);
  expect(provider.exchanged).toHaveLength(0);
  expect((await finish(query, first.tab)).status).toBe(200);
  expect((await finish(query, first.tab)).status).toBe(403);
});

test("strangers and unverified addresses cannot sign in, but a person whom an admin added can", async () => {
  const { api, begin, provider, gateway } = await openProvider();
  const signIn = async (claims: Record<string, unknown>) => {
    provider.claims = claims;
    const { tab, back } = await begin();
    return api.post("/sign-in/finish", { query: back.search.slice(1), tab });
  };
  expect((await signIn({ email: "eve@evil.test", email_verified: true })).body.error.message).toContain(
    "is not among the people",
  );
  expect((await signIn({ email: "ada@example.org", email_verified: false })).status).toBe(403);
  expect((await signIn({})).status).toBe(403);
  expect((await signIn({ email: "x@notexample.org", email_verified: true })).status).toBe(403);
  expect(await gateway.kernel.team.people()).toEqual([]);
  await gateway.kernel.team.add("eve@evil.test", { by: "test" });
  expect((await signIn({ email: "eve@evil.test", email_verified: true })).status).toBe(200);
});

test("the open routes of a sign-in give no rights, and a returning browser gets only the document", async () => {
  const { gateway } = await openProvider();
  const navigation = {
    accept: "text/html",
    "sec-fetch-site": "cross-site",
    "sec-fetch-mode": "navigate",
    "sec-fetch-dest": "document",
  };
  // The headers of a browser, which fetch would replace by its own.
  const get = (path: string, headers: Record<string, string> = {}) =>
    ask(gateway, { method: "GET", path, headers });
  expect((await get("/sign-in?code=1&state=2", navigation)).status).toBe(200);
  expect((await get("/people", navigation)).status).toBe(403);
  expect((await get("/sign-in", { "sec-fetch-site": "cross-site" })).status).toBe(403);
  expect((await get("/api/v1/sign-in/../sessions")).status).not.toBe(200);
  expect((await get("/api/v1/sign-in/sessions")).status).toBe(404);
  const foreign = { origin: "https://evil.test", "content-type": "application/json" };
  const begun = await fetch(`${gateway.url}/api/v1/sign-in/begin`, {
    method: "POST",
    headers: foreign,
    body: "{}",
  });
  expect(begun.status).toBe(403);
});

test("members can renew their own token, but not for longer than the old token was valid", async () => {
  const gateway = await startGateway({ upstream: "http://127.0.0.1:9" });
  const api = await ApiClient.open(gateway);
  const end = Date.now() + 86_400_000;
  const { secret } = await gateway.kernel.team.add("bob", { by: "test", expiresAt: end });
  await gateway.kernel.team.add("alice", { by: "test", role: "admin" });
  const bob = api.as(secret);
  expect((await bob.post("/people/alice/token", {})).status).toBe(403);
  const renewed = await bob.post("/people/bob/token", { expiresAt: end + 86_400_000 });
  expect(renewed.status).toBe(201);
  expect(renewed.body.person.tokens.at(-1).expiresAt).toBe(end);
  expect((await bob.get("/people")).status).toBe(401);
  expect((await api.as(renewed.body.token).get("/people")).status).toBe(200);
});

test("an ID token with another signature, without one, or of another time is refused", async () => {
  const { provider, begin, api } = await openProvider();
  const signIn = async () => {
    const { tab, back } = await begin();
    return (await api.post("/sign-in/finish", { query: back.search.slice(1), tab })).status;
  };
  const own = provider.sign;
  const other = generateKeyPairSync("rsa", { modulusLength: 2_048 }).privateKey;
  for (const forge of [
    () => "",
    (content: string) => sign("sha256", Buffer.from(content), other).toString("base64url"),
  ]) {
    provider.sign = forge;
    expect(await signIn()).toBe(403);
  }
  provider.sign = own;
  const now = Math.floor(Date.now() / 1_000);
  const fine = provider.claims;
  for (const claims of [{ iat: now + 3_600, exp: now + 7_200 }, { iat: now - 3_600 }]) {
    provider.claims = { ...fine, ...claims };
    expect(await signIn()).toBe(403);
  }
  provider.claims = fine;
  expect(await signIn()).toBe(200);
});

test("a sign-in is finished however many strangers begin theirs meanwhile, also at another gateway", async () => {
  const { provider, begin, api } = await openProvider();
  const { tab, back } = await begin();
  for (let number = 0; number < 1_100; number++) expect((await api.post("/sign-in/begin")).status).toBe(200);
  const settings = {
    ...{
      issuer: provider.issuer,
      clientId: "longhaul-test",
      clientSecret: SECRET,
      title: "x",
      claim: "email",
    },
    ...{
      scopes: ["openid"],
      join: ["*@example.org"],
      reserved: [],
      sessionMs: 60_000,
      publicUrl: back.origin,
    },
  };
  const kernel = await testKernel();
  const other = new OidcSignIn(kernel.team, () => settings);
  expect((await other.finish(back.search.slice(1), tab)).name).toBe("ada@example.org");
  const strange = new OidcSignIn(kernel.team, () => ({ ...settings, clientSecret: "another" }));
  await expect(strange.finish(back.search.slice(1), tab)).rejects.toMatchObject({ code: "SIGN_IN_FAILED" });
});

test("a person whom an admin has locked out can neither sign in nor renew a token, until an admin allows it", async () => {
  const { begin, api, gateway } = await openProvider();
  const { team } = gateway.kernel;
  const finish = async () => {
    const { tab, back } = await begin();
    return api.post("/sign-in/finish", { query: back.search.slice(1), tab });
  };
  const { body } = await finish();
  const ada = api.as(body.token);
  await team.revoke("ada@example.org", { by: "cli:root" });
  expect((await ada.post("/people/ada@example.org/token", {})).status).toBe(401);
  const refused = await finish();
  expect([refused.status, refused.body.error.message]).toEqual([
    403,
    expect.stringContaining("An admin has ended"),
  ]);
  await team.rotate("ada@example.org", { by: "cli:root" });
  expect((await finish()).status).toBe(200);
});

test("tokens of agents end 90 days after the sign-in at the latest, however often they are renewed", async () => {
  const { begin, api } = await openProvider();
  const { tab, back } = await begin();
  let { token } = (await api.post("/sign-in/finish", { query: back.search.slice(1), tab })).body;
  const signedInAt = Date.now();
  const ends: number[] = [];
  for (let round = 0; round < 3; round++) {
    const wanted = { expiresAt: Date.now() + 400 * 86_400_000 };
    const { body } = await api.as(token).post("/people/ada@example.org/token", wanted);
    token = body.token;
    ends.push(Math.max(...body.person.tokens.map((one: { expiresAt: number }) => one.expiresAt)));
  }
  expect(new Set(ends).size).toBe(1);
  expect(ends[0]).toBeLessThanOrEqual(signedInAt + 90 * 86_400_000);
});

test("a sign-in ends when the provider says so, and when the person signs out; other tokens stay", async () => {
  const { provider, begin, api, gateway } = await openProvider();
  provider.claims = { ...provider.claims, sid: "session-1" };
  const signIn = async () => {
    const { tab, back } = await begin();
    return api.as((await api.post("/sign-in/finish", { query: back.search.slice(1), tab })).body.token);
  };
  const [one, two] = [await signIn(), await signIn()];
  expect((await two.post("/sign-out")).body).toEqual({ isEnded: true });
  expect([(await one.get("/people")).status, (await two.get("/people")).status]).toEqual([200, 401]);
  const logOut = (token: string) =>
    fetch(`${gateway.url}/api/v1/sign-in/logout`, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams({ logout_token: token }),
    });
  const forged = provider.logOut({ sub: "person-1" }).replace(/[^.]+$/, "AAAA");
  for (const token of [
    forged,
    "x",
    provider.logOut({ sub: "person-1", nonce: "n" }),
    provider.logOut({ sub: undefined }),
  ])
    expect((await logOut(token)).status).toBe(403);
  expect((await logOut(provider.logOut({ sub: "person-2" }))).status).toBe(200);
  expect((await one.get("/people")).status).toBe(200);
  expect((await logOut(provider.logOut({ sub: "person-1", sid: "session-1" }))).status).toBe(200);
  expect((await one.get("/people")).status).toBe(401);
  expect((await (await signIn()).get("/people")).status).toBe(200);
});

test("a provider without https, a reply without an end, and names that look like others are refused", async () => {
  const { provider, begin, api } = await openProvider();
  const signIn = async () => {
    const { tab, back } = await begin();
    return (await api.post("/sign-in/finish", { query: back.search.slice(1), tab })).status;
  };
  for (const email of ["\u0430da@example.org", "ad\uff41@example.org"]) {
    provider.claims = { email, email_verified: true };
    expect(await signIn(), email).toBe(403);
  }
  provider.claims = { email: "ada@example.org", email_verified: true };
  provider.answerToken = (response) => {
    response.writeHead(200, { "content-type": "application/json" });
    const piece = Buffer.alloc(1 << 16, 32);
    const fill = () => {
      while (!response.destroyed && response.write(piece));
      response.once("drain", fill);
    };
    fill();
  };
  expect(await signIn()).toBe(403);
  const kernel = await testKernel();
  const plain = new OidcSignIn(kernel.team, () => ({
    ...{ issuer: "http://idp.example", clientId: "x", clientSecret: undefined, title: "x", claim: "email" },
    ...{ scopes: [], join: [], reserved: [], sessionMs: 1, publicUrl: "http://127.0.0.1:1" },
  }));
  await expect(plain.begin()).rejects.toMatchObject({ code: "SIGN_IN_FAILED" });
});
