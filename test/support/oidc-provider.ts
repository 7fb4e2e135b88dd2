import { createHash, generateKeyPairSync, randomUUID, sign } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2_048 });
const KEY_ID = "test-key";

interface Grant {
  readonly nonce: string;
  readonly challenge: string;
  readonly redirectUri: string;
}

/** A provider of OpenID Connect that admits whoever `claims` names, without asking. */
export interface TestProvider {
  readonly issuer: string;
  /** The claims of the next person who signs in. */
  claims: Record<string, unknown>;
  /** Everything that clients sent to the token endpoint. */
  readonly exchanged: readonly URLSearchParams[];
  /** Signs the next ID tokens; by default with the provider's own key. */
  sign: (content: string) => string;
  /** A signed logout token. */
  logOut(claims: object): string;
  /** Answers the token endpoint in place of the provider. */
  answerToken: ((response: ServerResponse) => void) | undefined;
}

/** Starts a provider; it ends with the test. */
export async function startOidcProvider(clientSecret: string): Promise<TestProvider> {
  const grants = new Map<string, Grant>();
  const exchanged: URLSearchParams[] = [];
  const provider: TestProvider & { issuer: string } = {
    issuer: "",
    claims: {},
    exchanged,
    sign: (content) => sign("sha256", Buffer.from(content), privateKey).toString("base64url"),
    logOut: (claims) => {
      const now = Math.floor(Date.now() / 1_000);
      const events = { "http://schemas.openid.net/event/backchannel-logout": {} };
      const own = {
        iss: provider.issuer,
        aud: "longhaul-test",
        iat: now,
        exp: now + 120,
        jti: randomUUID(),
        events,
      };
      return signToken({ ...own, ...claims });
    },
    answerToken: undefined,
  };
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  provider.issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return provider;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { issuer } = provider;
    const url = new URL(request.url ?? "/", issuer);
    const json = (value: unknown, status = 200) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
    if (url.pathname === "/.well-known/openid-configuration")
      return void json({
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/keys`,
        response_types_supported: ["code"],
        subject_types_supported: ["public"],
        id_token_signing_alg_values_supported: ["RS256"],
        code_challenge_methods_supported: ["S256"],
      });
    if (url.pathname === "/keys")
      return void json({
        keys: [{ ...publicKey.export({ format: "jwk" }), kid: KEY_ID, alg: "RS256", use: "sig" }],
      });
    if (url.pathname === "/authorize") {
      const code = randomUUID();
      const redirectUri = url.searchParams.get("redirect_uri") ?? "";
      grants.set(code, {
        nonce: url.searchParams.get("nonce") ?? "",
        challenge: url.searchParams.get("code_challenge") ?? "",
        redirectUri,
      });
      const back = new URL(redirectUri);
      back.searchParams.set("code", code);
      back.searchParams.set("state", url.searchParams.get("state") ?? "");
      return void response.writeHead(302, { location: back.href }).end();
    }
    if (url.pathname !== "/token") return void json({}, 404);
    let body = "";
    for await (const piece of request) body += piece;
    const fields = new URLSearchParams(body);
    exchanged.push(fields);
    if (provider.answerToken) return provider.answerToken(response);
    const grant = grants.get(fields.get("code") ?? "");
    grants.delete(fields.get("code") ?? "");
    const challenge = createHash("sha256")
      .update(fields.get("code_verifier") ?? "")
      .digest("base64url");
    const isKnown =
      request.headers.authorization?.includes(clientSecret) ||
      fields.get("client_secret") === clientSecret ||
      Buffer.from(request.headers.authorization?.split(" ")[1] ?? "", "base64")
        .toString()
        .includes(clientSecret);
    if (
      !grant ||
      grant.challenge !== challenge ||
      grant.redirectUri !== fields.get("redirect_uri") ||
      !isKnown
    )
      return void json({ error: "invalid_grant" }, 400);
    const now = Math.floor(Date.now() / 1_000);
    const idToken = signToken({
      iss: issuer,
      aud: "longhaul-test",
      sub: "person-1",
      iat: now,
      exp: now + 300,
      nonce: grant.nonce,
      ...provider.claims,
    });
    json({ access_token: "unused", token_type: "Bearer", expires_in: 300, id_token: idToken });
  }

  function signToken(claims: object): string {
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const content = `${encode({ alg: "RS256", kid: KEY_ID, typ: "JWT" })}.${encode(claims)}`;
    return `${content}.${provider.sign(content)}`;
  }
}
