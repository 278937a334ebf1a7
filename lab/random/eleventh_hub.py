"""Eleventh operators, libraries above torch: transformers, accelerate, safetensors, tokenizers, models made small, told wrongly."""

from __future__ import annotations

from lab.random.eleventh import BAD, BUG, IDX, OOM, ORD, OT, PATH, SEL, SET, SHA, Case, T, enter, py

HF = "import os\nos.environ['HF_HUB_OFFLINE'] = '1'\nos.environ['TRANSFORMERS_VERBOSITY'] = 'error'\nimport torch\n"
TINY = "from transformers import GPT2Config, GPT2LMHeadModel\ncfg = GPT2Config(n_layer=1, n_head=2, n_embd=16, vocab_size=50, n_positions=32, bos_token_id=0, eos_token_id=0)\nm = GPT2LMHeadModel(cfg).to('@D@').eval()\nprint('model on', next(m.parameters()).device, flush=True)\n"
BERT = "from transformers import BertConfig, BertForSequenceClassification\ncfg = BertConfig(hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16, vocab_size=60, max_position_embeddings=24, num_labels=3)\nm = BertForSequenceClassification(cfg).to('@D@')\nprint('model on', next(m.parameters()).device, flush=True)\n"
ON = "torch-matmul torch-train"
SAID = "(?i)assert|CUDA error"


def hf(target: str, cause: str, also: tuple[str, ...], body: str, expect: str, model: str = TINY, needs: str = ON) -> Case:  # fmt: skip
    """A small model of transformers on the device, used wrongly."""
    return py(needs, target, cause, also, HF + model + body, expect)


CUDA = "assert '@D@' == 'cuda'\nx = torch.zeros(1, device='cuda')\n"
enter(
    "words-beyond-the-vocabulary",
    hf("tokeniser has more words than the model", IDX, (), CUDA + "print(m(torch.tensor([[1, 7, 50]], device='cuda')).logits.sum().item())", SAID),
    hf("longer than the positions", IDX, (SHA,), CUDA + "print(m(torch.randint(0, 50, (1, 40), device='cuda')).logits.sum().item())", SAID + "|position|size"),
    hf("label that the head has not", IDX, (), CUDA + "print(m(torch.randint(0, 60, (2, 8), device='cuda'), labels=torch.tensor([0, 3], device='cuda')).loss.item())", SAID, BERT),
    hf("padding marked by minus one", IDX, (), CUDA + "print(m(torch.tensor([[4, 5, -1, -1]], device='cuda')).logits.sum().item())", SAID),
    hf("kinds of sentence beyond two", IDX, (), CUDA + "print(m(torch.randint(0, 60, (1, 8), device='cuda'), token_type_ids=torch.full((1, 8), 2, device='cuda')).logits.sum().item())", SAID, BERT),
)  # fmt: skip
enter(
    "inputs-left-behind",
    hf("words on the host, model on the card", SHA, (SEL,), CUDA + "print(m(torch.tensor([[1, 2, 3]])).logits.shape)", "(?i)same device|device"),
    hf("mask on the host", SHA, (SEL,), CUDA + "print(m(torch.tensor([[1, 2, 3]], device='cuda'), attention_mask=torch.ones(1, 3)).logits.shape)", "(?i)device"),
    hf("words generated from the host", SHA, (SEL,), CUDA + "print(m.generate(torch.tensor([[1, 2, 3]]), max_new_tokens=2, pad_token_id=0))", "(?i)same device|device"),
    hf("half a model moved", SHA, (SEL,), CUDA + "m.transformer.h[0].cpu()\nprint(m(torch.tensor([[1, 2, 3]], device='cuda')).logits.shape)", "(?i)same device|device"),
)  # fmt: skip
enter(
    "attention-back-ends",
    hf("flash attention that is not installed", OT, (PATH, "install.inconsistent", "cuda.missing_library", SET), "GPT2LMHeadModel._from_config(cfg, attn_implementation='flash_attention_2')\n", "(?i)flash"),
    hf("attention of another name", OT, (SET,), "GPT2LMHeadModel._from_config(cfg, attn_implementation='lightning')\n", "(?i)lightning"),
    hf("words as floats", SHA, (), "print(m(torch.ones(1, 4, device='@D@')).logits.shape)\n", "(?i)scalar type|dtype|Long"),
    hf("embeddings of another width", SHA, (), "print(m(inputs_embeds=torch.ones(1, 4, 20, device='@D@')).logits.shape)\n", "(?i)size|shape|match|normalized"),
    hf("both words and embeddings", OT, (SHA,), "print(m(torch.ones(1, 4, dtype=torch.long, device='@D@'), inputs_embeds=torch.ones(1, 4, 16, device='@D@')))\n", "(?i)both|inputs_embeds"),
)  # fmt: skip
enter(
    "generation-told-wrongly",
    hf("no new words", OT, (SHA,), "m.generate(torch.tensor([[1, 2]], device='@D@'), max_new_tokens=0)\n", "(?i)max_new_tokens"),
    hf("beams fewer than answers", OT, (SET,), "m.generate(torch.tensor([[1, 2]], device='@D@'), num_beams=2, num_return_sequences=5, max_new_tokens=2, pad_token_id=0)\n", "(?i)num_return_sequences|num_beams"),
    hf("heat of nothing", OT, (SET,), "m.generate(torch.tensor([[1, 2]], device='@D@'), do_sample=True, temperature=0.0, max_new_tokens=2, pad_token_id=0)\n", "(?i)temperature"),
    hf("word of the configuration misspelt", OT, (SET,), "m.generate(torch.tensor([[1, 2]], device='@D@'), max_new_token=2)\n", "(?i)max_new_token"),
    hf("cache of another name", OT, (SET,), "m.generate(torch.tensor([[1, 2]], device='@D@'), cache_implementation='paged9', max_new_tokens=2, pad_token_id=0)\n", "(?i)paged9|cache"),
    hf("logits that are none", IDX, (OT, SHA), CUDA + "with torch.no_grad():\n    m.lm_head.weight.fill_(float('nan'))\nprint(m.generate(torch.tensor([[1, 2]], device='cuda'), do_sample=True, max_new_tokens=4, pad_token_id=0))", "(?i)assert|CUDA error|inf|nan"),
)  # fmt: skip
SAVED = "m.save_pretrained('ck')\nprint('saved', sorted(os.listdir('ck')), flush=True)\n"
enter(
    "folders-of-weights",
    hf("weights never fetched", OT, (BAD, PATH), SAVED + "os.unlink('ck/model.safetensors')\nGPT2LMHeadModel.from_pretrained('ck').to('@D@')\n", "(?i)no file named|model.safetensors"),
    hf("weights are a pointer of large-file storage", BAD, (OT,), SAVED + "open('ck/model.safetensors', 'w').write('version https://git-lfs.github.com/spec/v1\\noid sha256:4d7a\\nsize 1200\\n')\nGPT2LMHeadModel.from_pretrained('ck').to('@D@')\n", "(?i)safetensors|header|LFS|deserializ"),
    hf("weights cut by a full disk", BAD, (OT,), SAVED + "d = open('ck/model.safetensors', 'rb').read()\nopen('ck/model.safetensors', 'wb').write(d[:len(d) // 2])\nGPT2LMHeadModel.from_pretrained('ck').to('@D@')\n", "(?i)incomplete|metadata|safetensors|deserializ"),
    hf("configuration of another width", SHA, (OT, BAD), SAVED + "import json\nc = json.load(open('ck/config.json'))\nc['n_embd'] = 32\njson.dump(c, open('ck/config.json', 'w'))\nGPT2LMHeadModel.from_pretrained('ck').to('@D@')\n", "(?i)mismatch|size"),
    hf("no configuration", OT, (BAD,), SAVED + "os.unlink('ck/config.json')\nGPT2LMHeadModel.from_pretrained('ck').to('@D@')\n", "(?i)config.json|config|model_type"),
    hf("kind of model nobody knows", OT, ("install.inconsistent", BUG), SAVED + "import json\nfrom transformers import AutoModel\nc = json.load(open('ck/config.json'))\nc['model_type'] = 'acme_moe'\njson.dump(c, open('ck/config.json', 'w'))\nAutoModel.from_pretrained('ck')\n", "(?i)acme_moe"),
    hf("model by a name, offline", OT, ("distributed.peer", PATH), "from transformers import AutoModel\nAutoModel.from_pretrained('acme/encoder-gpu-7b')\n", "(?i)acme/encoder|offline|connect"),
)  # fmt: skip
AC = HF + "from accelerate import Accelerator\n"
enter(
    "accelerate-told-wrongly",
    py(ON, "precision of another name", OT, (SET,), AC + "print(torch.ones(1, device='@D@'), flush=True)\nAccelerator(mixed_precision='fp4')\n", "(?i)fp4|precision"),
    py(ON, "eight bits without their library", OT, (SET, "cuda.missing_library", "install.inconsistent"), AC + "print(torch.ones(1, device='@D@'), flush=True)\na = Accelerator(mixed_precision='fp8')\na.prepare(torch.nn.Linear(16, 16))\n", "(?i)fp8|transformer.?engine|torchao|ms.?amp"),
    py(ON, "model twice on two machines' map", SEL, (OT, SET), HF + "from accelerate import dispatch_model\nm = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 4))\nprint(torch.ones(1, device='@D@'), flush=True)\ndispatch_model(m, {'0': 'cuda:0', '1': 'cuda:5'})\n", "(?i)ordinal|cuda:5|device"),
    py(ON, "map leaves a layer out", OT, (SEL, SET), HF + "from accelerate import dispatch_model\nm = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 4))\nprint(torch.ones(1, device='@D@'), flush=True)\ndispatch_model(m, {'0': 0})\n", "(?i)device_map|not have|cover"),
    py(ON, "weights without data moved", ORD, (SHA, OT), HF + "from accelerate import init_empty_weights\nwith init_empty_weights():\n    m = torch.nn.Linear(8, 8)\nprint(torch.ones(1, device='@D@'), flush=True)\nm.to('@D@')\n", "(?i)meta"),
    py(ON, "prepared twice by another optimiser", OT, (ORD,), AC + "a = Accelerator(cpu='@D@' == 'cpu', gradient_accumulation_steps='four')\nm, o = a.prepare(torch.nn.Linear(2, 2), None)\nwith a.accumulate(m):\n    a.backward(m(torch.ones(1, 2, device=a.device)).sum())\n", "(?i)four|int|str"),
)  # fmt: skip
SF = (
    T
    + "from safetensors.torch import save_file, load_file\nfrom safetensors import safe_open\nx = torch.ones(16, 4, device='@D@')\nprint('on', x.device, flush=True)\n"
)
enter(
    "safetensors-told-wrongly",
    py(ON, "tied weights in one file", OT, (SHA,), SF + "save_file({'a': x, 'b': x}, 'm.safetensors')\n", "(?i)share memory"),
    py(ON, "turned weights", SHA, (OT,), SF + "save_file({'a': x.t()}, 'm.safetensors')\n", "(?i)contiguous"),
    py(ON, "name that the file has not", OT, (BAD,), SF + "save_file({'a': x}, 'm.safetensors')\nwith safe_open('m.safetensors', 'pt', device='@D@') as f:\n    print(f.get_tensor('encoder.weight'))\n", "(?i)encoder.weight"),
    py(ON, "read to the seventh card", SEL, (), SF + "save_file({'a': x}, 'm.safetensors')\nprint(load_file('m.safetensors', device='cuda:7'))\n", "(?i)ordinal|device"),
    py(ON, "page of a proxy", BAD, (OT,), SF + "open('m.safetensors', 'w').write('<!doctype html><title>504 Gateway</title>')\nload_file('m.safetensors', device='@D@')\n", "(?i)header|safetensors"),
    py(ON, "notes that are no words", OT, (SHA,), SF + "save_file({'a': x}, 'm.safetensors', metadata={'step': 400})\n", "(?i)metadata|str|int"),
)  # fmt: skip
TR = HF + BERT + "from transformers import Trainer, TrainingArguments\nclass D(torch.utils.data.Dataset):\n    def __len__(self):\n        return 8\n    def __getitem__(self, i):\n        return {item}\ndef go(data=None, **k):\n    base = dict(output_dir='out', max_steps=2, report_to=[], use_cpu='@D@' == 'cpu', per_device_train_batch_size=4, disable_tqdm=True)\n    Trainer(model=m, args=TrainingArguments(**{**base, **k}), train_dataset=data or D()).train()\n"  # fmt: skip
ITEM = "dict(input_ids=torch.arange(8), labels=torch.tensor(i % 3))"


def trained(target: str, cause: str, also: tuple[str, ...], call: str, expect: str, item: str = ITEM) -> Case:
    """The Trainer of transformers with a small model."""
    return py("torch-train", target, cause, also, TR.replace("{item}", item) + call + "\n", expect)


enter(
    "trainer-told-wrongly",
    trained("sentences of unlike length", SHA, (OT,), "go()", "(?i)stack|equal size|batch|tensor", "dict(input_ids=torch.arange(4 + i), labels=torch.tensor(0))"),
    trained("no labels", OT, (SHA,), "go()", "(?i)loss|labels", "dict(input_ids=torch.arange(8))"),
    trained("two half precisions at once", OT, (SET,), "go(bf16=True, fp16=True)", "(?i)fp16|bf16"),
    trained("evaluates with nothing", OT, (SET,), "go(eval_strategy='steps', eval_steps=1)", "(?i)eval"),
    trained("optimiser of another name", OT, (SET,), "go(optim='adamw_warp')", "(?i)adamw_warp|optim"),
    trained("goes on from no checkpoint", OT, (PATH, BAD), "Trainer(model=m, args=TrainingArguments(output_dir='none', max_steps=1, report_to=[], use_cpu='@D@' == 'cpu'), train_dataset=D()).train(resume_from_checkpoint=True)", "(?i)checkpoint"),
    trained("labels above the head, found late", IDX, (), CUDA + "go()", SAID, "dict(input_ids=torch.arange(8), labels=torch.tensor(i))"),
)  # fmt: skip
enter(
    "tokenisers-and-sentences",
    py("torch-matmul", "lists not padded", SHA, (OT,), HF + "from tokenizers import Tokenizer, models, pre_tokenizers\nfrom transformers import PreTrainedTokenizerFast\nt = Tokenizer(models.WordLevel({'a': 0, 'b': 1, '[UNK]': 2}, unk_token='[UNK]'))\nt.pre_tokenizer = pre_tokenizers.Whitespace()\nf = PreTrainedTokenizerFast(tokenizer_object=t, unk_token='[UNK]')\nprint(torch.ones(1, device='@D@'), flush=True)\nf(['a b', 'a b a a'], return_tensors='pt')\n", "(?i)padding|tensor"),
    py("torch-matmul", "no sign to pad with", OT, (SET,), HF + "from tokenizers import Tokenizer, models\nfrom transformers import PreTrainedTokenizerFast\nf = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(models.WordLevel({'a': 0, '[UNK]': 1}, unk_token='[UNK]')))\nprint(torch.ones(1, device='@D@'), flush=True)\nf(['a', 'a'], padding=True)\n", "(?i)padding token|pad_token"),
    py("torch-matmul", "file of words is no list", BAD, (OT,), HF + "from tokenizers import Tokenizer\nprint(torch.ones(1, device='@D@'), flush=True)\nopen('tokenizer.json', 'w').write('{\"version\": \"1.0\", \"model\": ')\nTokenizer.from_file('tokenizer.json')\n", "(?i)EOF|parsing|line"),
    py("torch-matmul", "model of sentences from nowhere", OT, ("distributed.peer", PATH), HF + "from sentence_transformers import SentenceTransformer\nprint(torch.ones(1, device='@D@'), flush=True)\nSentenceTransformer('acme/all-gpu-base', device='@D@')\n", "(?i)acme/all-gpu"),
)  # fmt: skip
enter(
    "context-too-long",
    hf("keys and values of a long talk", OOM, (), CUDA + "torch.cuda.set_per_process_memory_fraction((900 << 20) / torch.cuda.get_device_properties(0).total_memory)\nfrom transformers import DynamicCache\nc = DynamicCache()\nfor i in range(100):\n    c.update(torch.ones(4, 16, 4096, 64, device='cuda'), torch.ones(4, 16, 4096, 64, device='cuda'), 0)\n", "(?i)out of memory"),
    hf("logits for every word", OOM, (), CUDA + "torch.cuda.set_per_process_memory_fraction((700 << 20) / torch.cuda.get_device_properties(0).total_memory)\nw = torch.ones(16, 152064, device='cuda')\nh = torch.ones(4, 2048, 16, device='cuda')\nprint('prefill', flush=True)\nprint((h @ w).shape)\n", "(?i)out of memory"),
    hf("attention shown whole", OOM, (), CUDA + "torch.cuda.set_per_process_memory_fraction((900 << 20) / torch.cuda.get_device_properties(0).total_memory)\nq = torch.ones(8, 16, 8192, 16, device='cuda')\nprint((q @ q.transpose(-1, -2)).softmax(-1).shape)\n", "(?i)out of memory"),
)  # fmt: skip
