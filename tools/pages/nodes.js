"use strict";
/* Text from documents, models and data sets only ever becomes text: nodes are made here, never markup. */
const make = (name, options = {}, ...children) => {
  const { class: kind, text, on, ...attributes } = options;
  const node = document.createElement(name);
  if (kind) node.className = kind;
  if (text !== undefined && text !== null) node.textContent = String(text);
  for (const [key, value] of Object.entries(attributes)) if (value !== undefined && value !== null) node.setAttribute(key, value);
  for (const [event, handler] of Object.entries(on || {})) node.addEventListener(event, handler);
  node.append(...children.filter(Boolean));
  return node;
};
const many = (count, thing) => `${count.toLocaleString("en")} ${thing}${count === 1 ? "" : "s"}`;
/* Never more sure than it is: 0.947 is not above a threshold of 0.95. */
const figure = value => (value === null || value === undefined ? "–" : (Math.floor(value * 100 + 1e-9) / 100).toFixed(2));
const share = value => (value === null || value === undefined ? "–" : value < 1 ? Math.min(value, 0.99).toFixed(2) : "1.00");
