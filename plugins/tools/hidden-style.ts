/** An inline style that hides its element: what people do not see, models are not shown. */
export const HIDDEN_STYLE = /(^|;)\s*(display\s*:\s*none|visibility\s*:\s*(hidden|collapse)|content-visibility\s*:\s*hidden)/i;
