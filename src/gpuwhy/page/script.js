"use strict";
(() => {
  const page = document.querySelector(".gpuwhy");
  page.classList.add("js");

  // The stack: the evidence of the layer under the pointer or the focus; the one that was chosen stays.
  const bind = (scene) => {
    const layers = [...scene.querySelectorAll("a[data-shows]")];
    const panels = [...scene.querySelectorAll(".why")];
    let chosen = layers.find((one) => one.classList.contains("first")) || layers[0];
    const show = (layer) => {
      for (const panel of panels) panel.classList.toggle("seen", panel.id === layer.dataset.shows);
      for (const one of layers) one.classList.toggle("seen", one === layer);
    };
    for (const layer of layers) {
      layer.addEventListener("mouseenter", () => show(layer));
      layer.addEventListener("mouseleave", () => show(chosen));
      layer.addEventListener("focus", () => { chosen = layer; show(layer); });
      layer.addEventListener("click", (event) => {
        chosen = layer;
        show(layer);
        if (matchMedia("(min-width: 56rem)").matches) event.preventDefault();
      });
      layer.addEventListener("keydown", (event) => {
        const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
        if (!step) return;
        const next = layers[layers.indexOf(layer) + step];
        if (next) next.focus();
        event.preventDefault();
      });
    }
    if (chosen) show(chosen);
  };
  page.querySelectorAll(".scene").forEach(bind);

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
  for (const block of page.querySelectorAll("pre[data-copy]")) {
    const button = document.createElement("button");
    const text = block.textContent;
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.setAttribute("aria-label", "Copy: " + text.slice(0, 80));
    button.addEventListener("click", async () => {
      await copy(text, block);
      button.textContent = "Copied";
      said.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy"; said.textContent = ""; }, 2000);
    });
    block.after(button);
  }

  // Paper shows what is folded, but for the noise.
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...page.querySelectorAll("details:not([open]):not(.noise)")];
    for (const one of opened) one.open = true;
  });
  addEventListener("afterprint", () => { for (const one of opened) one.open = false; });
})();
