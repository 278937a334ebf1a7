"use strict";
(() => {
  const page = document.querySelector(".gpuwhy");

  // Commands: a button that copies.
  const said = document.createElement("span");
  said.className = "unseen";
  said.setAttribute("role", "status");
  page.append(said);
  const copy = async (text, block) => {
    try {
      await navigator.clipboard.writeText(text);
    } catch (_) {
      const range = document.createRange();
      range.selectNodeContents(block);
      const chosen = getSelection();
      chosen.removeAllRanges();
      chosen.addRange(range);
      document.execCommand("copy");
    }
  };
  for (const block of page.querySelectorAll("[data-copy]")) {
    const button = document.createElement("button");
    const text = block.textContent;
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.setAttribute("aria-label", "Copy: " + text.slice(0, 80));
    button.addEventListener("click", async () => {
      await copy(text, block);
      button.textContent = said.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy"; said.textContent = ""; }, 2000);
    });
    if (block.tagName === "PRE") {
      const around = document.createElement("div");
      around.className = "copying";
      block.replaceWith(around);
      around.append(block, button);
    } else {
      block.after(button);
    }
  }

  // Paper shows every part.
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...page.querySelectorAll("details:not([open])")];
    for (const one of opened) one.open = true;
  });
  addEventListener("afterprint", () => { for (const one of opened) one.open = false; });
})();
