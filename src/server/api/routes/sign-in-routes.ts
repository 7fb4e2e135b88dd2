import { z } from "zod";
import { about } from "../core/named-schema.ts";
import { type ApiRoute, defineRoute } from "../core/route.ts";
import { timeSchema } from "../schemas/common-schemas.ts";

const tag = "Sign-in";

/** The routes below /sign-in are open to everybody, so they may use nothing of the caller. */
const getSignIn = defineRoute(
  {
    id: "getSignIn",
    method: "GET",
    path: "/sign-in",
    tag,
    summary: "Show whether people can sign in at a provider; needs no token",
    reply: z.object({
      provider: about(z.string().nullable(), "The provider's name; null if there is none."),
    }),
  },
  async ({ services: { signIn } }) => ({ provider: signIn.title ?? null }),
);

const beginSignIn = defineRoute(
  {
    id: "beginSignIn",
    method: "POST",
    path: "/sign-in/begin",
    tag,
    summary: "Begin a sign-in at the provider; needs no token",
    body: z.strictObject({}),
    reply: z.object({
      url: about(z.string(), "The address to open; it leads back to /sign-in."),
      tab: about(z.string(), "A secret that only this client keeps, to finish the sign-in."),
    }),
    errors: ["SIGN_IN_FAILED"],
  },
  async ({ services: { signIn } }) => signIn.begin(),
);

const finishSignIn = defineRoute(
  {
    id: "finishSignIn",
    method: "POST",
    path: "/sign-in/finish",
    tag,
    summary: "Finish a sign-in and get a token that ends by itself; needs no token",
    body: z.strictObject({
      query: about(z.string().min(1).max(8_192), "The query with which the provider sent the browser back."),
      tab: z.string().min(1).max(2_000),
    }),
    reply: z.object({ name: z.string(), token: z.string(), expiresAt: timeSchema }),
    errors: ["SIGN_IN_FAILED"],
  },
  async ({ services: { signIn }, body: { query, tab } }) => signIn.finish(query, tab),
);

const endSignIn = defineRoute(
  {
    id: "endSignIn",
    method: "POST",
    path: "/sign-in/logout",
    tag,
    summary:
      "End a sign-in that has ended at the provider (OpenID Connect Back-Channel Logout); for the provider",
    description: "The body is a form, as the standard says, or JSON.",
    body: z.object({ logout_token: about(z.string().min(1).max(16_384), "The provider's signed token.") }),
    reply: z.object({}),
    errors: ["SIGN_IN_FAILED"],
  },
  async ({ services: { signIn }, body }) => {
    await signIn.endAtProvider(body.logout_token);
    return {};
  },
);

const signOut = defineRoute(
  {
    id: "signOut",
    method: "POST",
    path: "/sign-out",
    tag,
    summary: "End the token of the request, if it comes from a sign-in",
    body: z.strictObject({}),
    reply: z.object({ isEnded: z.boolean() }),
  },
  async ({ services: { kernel }, caller: { personToken, id } }) => {
    if (!personToken) return { isEnded: false };
    return { isEnded: (await kernel.team.signOut({ digest: personToken.digest }, { by: id })) > 0 };
  },
);

export const SIGN_IN_ROUTES = [
  getSignIn,
  beginSignIn,
  finishSignIn,
  endSignIn,
  signOut,
] as const satisfies readonly ApiRoute[];
