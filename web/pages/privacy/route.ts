import type { PageRoute } from "../../shell/page-route.ts";

export const route: PageRoute = {
  paths: ["/privacy"],
  label: { en: "Privacy", zh: "隐私" },
  load: () => import("./page.tsx"),
};
