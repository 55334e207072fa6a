"""Names of the training loop in PyTorch and its neighbours: scalers, optimizers, clip functions, losses, frameworks.

Data only; signatures and deprecations of the AMP functions themselves are in `torch_api.py`.
"""

from amplint.knowledge.training_names import CLIPS

# What a scaler answers without another state of its round.
QUIET_METHODS = frozenset(
    {
        *("load_state_dict", "scale", "get_scale", "state_dict", "is_enabled", "_get_scale_async"),
        *("get_growth_factor", "get_backoff_factor", "get_growth_interval", "_get_growth_tracker"),
        *("set_growth_factor", "set_backoff_factor", "set_growth_interval"),
        *("_found_inf_per_device", "_check_inf_per_device"),
    }
)

# Where a scaler keeps the stage of each optimizer.
RECORD = "_per_optimizer_states"

OTHER_FRAMEWORKS = ("paddle.", "mxnet.", "tensorflow.", "keras.", "mindspore.", "jittor.", "apex.")

# Clips in place. The position of the parameters is 0 in all of them.
CLIP_FUNCTIONS = CLIPS | {
    "torch.nn.utils.clip_grads_with_norm_",
    "torch.nn.utils.clip_grad_norm",
    "torch.nn.utils.clip_grad.clip_grads_with_norm_",
    "torch.nn.utils.clip_grad.clip_grad_norm",
    "timm.utils.dispatch_clip_grad",
    "timm.utils.adaptive_clip_grad",
    "timm.utils.clip_grad.dispatch_clip_grad",
    "timm.utils.agc.adaptive_clip_grad",
}
CLIP_NAMES = frozenset(name.rpartition(".")[2] for name in CLIP_FUNCTIONS)

# Reads a norm of gradients and changes nothing.
NORM_FUNCTIONS = frozenset({"torch.nn.utils.get_total_norm", "torch.nn.utils.clip_grad.get_total_norm"})

# A mean over the batch is what these give by default.
MEAN_LOSS_MODULES = frozenset(
    {
        *("L1Loss", "MSELoss", "CrossEntropyLoss", "NLLLoss", "BCELoss", "BCEWithLogitsLoss", "SmoothL1Loss"),
        *("HuberLoss", "PoissonNLLLoss", "GaussianNLLLoss", "KLDivLoss", "MarginRankingLoss", "HingeEmbeddingLoss"),
        *("CosineEmbeddingLoss", "MultiLabelMarginLoss", "MultiLabelSoftMarginLoss", "MultiMarginLoss"),
        *("SoftMarginLoss", "TripletMarginLoss", "TripletMarginWithDistanceLoss", "CTCLoss"),
    }
)
MEAN_LOSS_FUNCTIONS = frozenset(
    {
        *("l1_loss", "mse_loss", "cross_entropy", "nll_loss", "binary_cross_entropy", "huber_loss", "smooth_l1_loss"),
        *("binary_cross_entropy_with_logits", "poisson_nll_loss", "gaussian_nll_loss", "kl_div", "ctc_loss"),
        *("margin_ranking_loss", "hinge_embedding_loss", "cosine_embedding_loss", "multi_margin_loss"),
        *("multilabel_margin_loss", "multilabel_soft_margin_loss", "soft_margin_loss", "triplet_margin_loss"),
        "triplet_margin_with_distance_loss",
    }
)
# The endings of transformers' classes whose loss is documented to be a mean over the batch, or over its tokens.
MEAN_HEADS = (
    *("ForCausalLM", "LMHeadModel", "ForMaskedLM", "ForSeq2SeqLM", "ForConditionalGeneration", "ForMultipleChoice"),
    *("ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering", "ForImageClassification"),
)
# What gives back the module that it is called on or given: moved, cast, wrapped for several devices, compiled.
SAME_MODULE_METHODS = frozenset({"to", "cuda", "cpu", "train", "eval", "float", "half", "bfloat16", "requires_grad_"})
WRAPPERS_OF_MODULES = frozenset(
    {
        *("torch.nn.DataParallel", "torch.nn.parallel.DataParallel", "torch.nn.parallel.DistributedDataParallel"),
        *("torch.compile", "torch.nn.SyncBatchNorm.convert_sync_batchnorm"),
    }
)

# The floating-point dtypes, some of which torch gives two names.
DTYPES = {
    "torch.float16": "float16",
    "torch.half": "float16",
    "torch.bfloat16": "bfloat16",
    "torch.float32": "float32",
    "torch.float": "float32",
    "torch.float64": "float64",
    "torch.double": "float64",
}
