for (const button of document.querySelectorAll("[data-fold]")) {
  button.addEventListener("click", () => {
    for (const part of document.querySelectorAll("section.tree details." + button.dataset.kind)) part.open = button.dataset.fold === "open";
  });
}
