import { z } from "zod";
import { buildCertificateName, formatCertificate } from "../../conversation/erasing/erasure-certificate.ts";
import { isConfirmed } from "../core/confirmation.ts";
import { about } from "../core/named-schema.ts";
import { requireAdmin } from "../core/require-admin.ts";
import { type ApiRoute, defineRoute } from "../core/route.ts";
import { confirmSchema } from "../schemas/common-schemas.ts";
import { certificateSchema, erasedCountsSchema, personNameSchema } from "../schemas/people-schemas.ts";

const erasePerson = defineRoute(
  {
    id: "erasePerson",
    method: "POST",
    path: "/people/{person}/erase",
    tag: "People",
    summary: "Erase a person with everything that is stored of them, after a preview; for admins",
    description:
      "The first call is a preview and returns `confirm`; the second call, with it, ends the tokens, erases conversations, memories, tasks and blobs from disk, removes tokens and budgets, and returns the certificate. It goes on if the caller leaves; the same call again returns the same certificate. There is no undo.",
    params: z.strictObject({ person: personNameSchema }),
    body: z.strictObject({ confirm: confirmSchema.optional() }),
    reply: z.object({
      person: z.string(),
      isErased: z.boolean(),
      counts: erasedCountsSchema,
      confirm: z.string(),
      certificate: about(certificateSchema.nullable(), "Null in a preview."),
      text: about(z.string().nullable(), "The certificate for people to read."),
      fileName: about(z.string().nullable(), "A name for the certificate's file."),
    }),
    errors: ["FORBIDDEN", "PERSON_NOT_FOUND", "PREVIEW_CHANGED", "TASK_CONFLICT"],
  },
  async ({ services: { erasures }, caller, params: { person }, body }) => {
    requireAdmin(caller);
    const begun = body.confirm === undefined ? undefined : erasures.findCertificate(person, body.confirm);
    if (!begun) {
      const { confirm, counts } = await erasures.preview(person);
      if (!isConfirmed(confirm, body.confirm))
        return { person, isErased: false, counts, confirm, certificate: null, text: null, fileName: null };
    }
    const confirm = body.confirm ?? "";
    const certificate = await (begun ?? erasures.erase(person, confirm, { by: caller.id }));
    return {
      person,
      isErased: true,
      counts: certificate.removed,
      confirm,
      certificate,
      text: formatCertificate(certificate),
      fileName: buildCertificateName(certificate),
    };
  },
);

export const ERASURE_ROUTES = [erasePerson] as const satisfies readonly ApiRoute[];
