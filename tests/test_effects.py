"""What the rules on regions, dtypes and lifecycle say is true: torch shows each effect on the CPU."""

import warnings
from collections.abc import Iterator

import pytest

torch = pytest.importorskip("torch")


@pytest.fixture(autouse=True)
def _quiet_and_seeded() -> Iterator[None]:
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
    torch.set_autocast_enabled("cpu", False)
    torch.clear_autocast_cache()


def region(**given: object):
    return torch.autocast("cpu", **{"dtype": torch.bfloat16, **given})


def train(is_one_region: bool) -> float:
    """The loss of the trained weights in float32, after 40 steps in one region or in one region a forward."""
    torch.manual_seed(0)
    model = torch.nn.Linear(16, 1)
    images, labels = torch.randn(64, 16), torch.randn(64, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step() -> None:
        loss = torch.nn.functional.mse_loss(model(images).float(), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    if is_one_region:
        with region():
            for _ in range(40):
                step()
    else:
        for _ in range(40):
            with region():
                step()
    return torch.nn.functional.mse_loss(model(images), labels).item()


def test_amp402_a_loop_in_one_region_trains_on_stale_weights() -> None:
    assert train(is_one_region=True) > 3 * train(is_one_region=False)


def test_amp403_and_enters_only_the_last() -> None:
    with region() and torch.enable_grad():
        assert not torch.is_autocast_enabled("cpu")
    with region(), torch.enable_grad():
        assert torch.is_autocast_enabled("cpu")


def test_amp404_the_cpu_does_not_show_what_cuda_refuses() -> None:
    with region():
        loss = torch.nn.functional.binary_cross_entropy(torch.rand(4), torch.ones(4))
    assert loss.dtype == torch.float32


def test_amp405_a_custom_function_meets_mixed_dtypes() -> None:
    class Project(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, weight):
            ctx.save_for_backward(x, weight)
            return x @ weight

        @staticmethod
        def backward(ctx, grad):
            x, weight = ctx.saved_tensors
            return grad @ weight.t(), x.t() @ grad

    x, weight = torch.randn(2, 3, requires_grad=True), torch.randn(3, 4, requires_grad=True)
    with region():
        result = Project.apply(x, weight).sum()
    with pytest.raises(RuntimeError, match="dtype"):
        result.backward()


def test_amp406_a_disabled_region_does_not_cast_its_inputs() -> None:
    with region():
        scores = torch.nn.Linear(4, 4)(torch.randn(2, 4))
        with region(enabled=False):
            assert torch.exp(scores).dtype == torch.bfloat16


def test_amp407_custom_bwd_on_forward_has_nothing_to_read() -> None:
    class Square(torch.autograd.Function):
        @staticmethod
        @torch.amp.custom_bwd(device_type="cpu")
        def forward(ctx, x):
            return x * x

        @staticmethod
        def backward(ctx, grad):
            return grad

    with pytest.raises(AttributeError, match="_fwd_used_autocast"):
        Square.apply(torch.ones(2, requires_grad=True))


def test_amp408_a_tuple_is_refused_only_when_it_is_entered() -> None:
    context = region(enabled=(False,))
    with pytest.raises(TypeError), context:
        pass


def test_amp409_the_old_call_forces_its_own_dtype() -> None:
    layer, images = torch.nn.Linear(4, 4), torch.randn(2, 4)
    with region(dtype=torch.float16), torch.cpu.amp.autocast():
        assert layer(images).dtype == torch.bfloat16
    with region(dtype=torch.float16), torch.autocast("cpu"):
        assert layer(images).dtype == torch.float16


def test_amp411_an_object_entered_twice_leaves_autocast_on() -> None:
    context = region()
    with context, context:
        pass
    assert torch.is_autocast_enabled("cpu")


def test_amp501_float16_parameters_stop_at_the_first_step() -> None:
    model = torch.nn.Linear(4, 1).half()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cpu")
    scaler.scale(model(torch.randn(2, 4).half()).float().mean()).backward()
    with pytest.raises(ValueError, match="Attempting to unscale FP16 gradients"):
        scaler.step(optimizer)


@pytest.mark.parametrize("is_enabled", [True, False])
def test_amp502_a_scaler_changes_nothing_in_bfloat16(is_enabled: bool) -> None:
    def weights(enabled: bool) -> object:
        torch.manual_seed(0)
        model, images = torch.nn.Linear(8, 1), torch.randn(32, 8)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        scaler = torch.amp.GradScaler("cpu", enabled=enabled)
        for _ in range(5):
            optimizer.zero_grad()
            with region():
                loss = model(images).square().mean()
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
        return model.weight.detach()

    assert torch.equal(weights(is_enabled), weights(False))


def test_amp503_small_gradients_vanish_in_float16() -> None:
    layer, images = torch.nn.Linear(64, 64), torch.randn(8, 64)
    with region(dtype=torch.float16):
        loss = layer(images).float().square().mean() * 1e-6
    (plain,) = torch.autograd.grad(loss, layer.weight, retain_graph=True)
    (scaled,) = torch.autograd.grad(loss * 65536.0, layer.weight)
    assert (plain == 0).float().mean() > 0.5
    assert (scaled == 0).float().mean() < 0.05


def test_amp504_numbers_beyond_float16() -> None:
    scores = torch.zeros(2, dtype=torch.float16)
    with pytest.raises(RuntimeError, match="without overflow"):
        scores.masked_fill(torch.tensor([True, False]), -1e9)
    assert torch.isinf(torch.where(torch.tensor([True, False]), scores, -1e9)).any()
    assert (scores + 1e-8 == 0).all()
    assert (scores.clamp(min=1e-8) == 0).all()


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is CUDA")
def test_amp505_a_scaler_without_a_device_disables_itself() -> None:
    assert not torch.amp.GradScaler().is_enabled()
    assert torch.amp.GradScaler("cpu").is_enabled()


def skipping_step(scaler: object, optimizer: object, weight: object, is_overflowing: bool) -> None:
    optimizer.zero_grad()
    scaler.scale((weight * (float("inf") if is_overflowing else 1.0)).sum()).backward()
    scaler.step(optimizer)
    scaler.update()


def test_amp601_the_rate_decays_on_skipped_steps() -> None:
    weight = torch.nn.Parameter(torch.ones(1))
    optimizer = torch.optim.SGD([weight], lr=1.0)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
    scaler = torch.amp.GradScaler("cpu", init_scale=4.0)
    for _ in range(3):
        skipping_step(scaler, optimizer, weight, is_overflowing=True)
        scheduler.step()
    assert weight.item() == 1.0
    assert scheduler.get_last_lr() == [0.125]


def test_amp602_a_resumed_run_starts_at_the_initial_scale() -> None:
    weight = torch.nn.Parameter(torch.ones(1))
    optimizer = torch.optim.SGD([weight], lr=0.0)
    scaler = torch.amp.GradScaler("cpu")
    for _ in range(4):
        skipping_step(scaler, optimizer, weight, is_overflowing=True)
    resumed = torch.amp.GradScaler("cpu")
    assert resumed.get_scale() == 16 * scaler.get_scale()
    resumed.load_state_dict(scaler.state_dict())
    assert resumed.get_scale() == scaler.get_scale()


def test_amp603_a_grown_scale_is_no_skipped_step() -> None:
    weight = torch.nn.Parameter(torch.ones(1))
    optimizer = torch.optim.SGD([weight], lr=0.5)
    scaler = torch.amp.GradScaler("cpu", init_scale=4.0, growth_interval=1)
    scale = scaler.get_scale()
    skipping_step(scaler, optimizer, weight, is_overflowing=False)
    assert weight.item() == 0.5
    assert scaler.get_scale() != scale
    assert not scaler.get_scale() < scale


def test_amp703_batch_norm_sees_the_micro_batch() -> None:
    norm, images = torch.nn.BatchNorm1d(4), torch.randn(8, 4)
    whole = norm(images)
    parts = torch.cat([norm(part) for part in images.chunk(4)])
    assert not torch.allclose(whole, parts)
