import type { PageRoute } from "../../shell/page-route.ts";

export const route: PageRoute = {
  paths: ["/sessions/:id/window"],
  label: { en: "Window", zh: "窗口" },
  load: () => import("./page.tsx"),
};
