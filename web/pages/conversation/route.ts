import type { PageRoute } from "../../shell/page-route.ts";

export const route: PageRoute = {
  paths: ["/sessions/:id"],
  label: { en: "Conversation", zh: "对话" },
  load: () => import("./page.tsx"),
};
